# quoteweave serve in a container. Other machines reach the server only with keys, so that one comes first:
#   docker build -t quoteweave .
#   docker run --rm -v quoteweave:/data quoteweave keys add admin --scope admin
#   docker run -p 8321:8321 -v quoteweave:/data quoteweave
# The page, the API and adding documents need no model. For neural retrievers build with --build-arg EXTRAS=server,models
# and give the CPU build of torch first (--build-arg TORCH="torch --index-url https://download.pytorch.org/whl/cpu").
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ARG EXTRAS=server
ARG TORCH=""
WORKDIR /source
RUN python -m venv /opt/quoteweave
ENV PATH=/opt/quoteweave/bin:$PATH
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY quoteweave quoteweave
RUN if [ -n "$TORCH" ]; then pip install --no-cache-dir $TORCH; fi \
 && pip install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]"

FROM python:${PYTHON}-slim
# onnxruntime and OpenCV, by which scanned pages are read, need these two.
RUN apt-get update \
 && apt-get install -y --no-install-recommends libgl1 libglib2.0-0 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 quoteweave \
 && install -d -o quoteweave -g quoteweave /data /data/collections /data/state
COPY --from=build /opt/quoteweave /opt/quoteweave
ENV PATH=/opt/quoteweave/bin:$PATH QUOTEWEAVE_STATE=/data/state PYTHONUNBUFFERED=1
USER quoteweave
VOLUME /data
EXPOSE 8321
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8321/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["quoteweave"]
CMD ["serve", "--collections", "/data/collections", "--host", "0.0.0.0"]
