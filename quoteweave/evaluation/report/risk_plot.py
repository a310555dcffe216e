"""The plot of a risk–coverage curve."""

from quoteweave.evaluation.calibration import Calibrating
from quoteweave.evaluation.report.drawing import FAINT, HIGHLIGHT, INK, Plot, panels, saved, style


def risk_plot(found: Calibrating) -> Plot:
    """Risk against coverage, with the risk that was to be kept and the threshold. Raises MissingExtra."""
    with style("risk-coverage"):
        figure, axes = panels(1, height=3.0)
        coverage, risk = ([100 * getattr(point, name) for point in found.curve] for name in ("coverage", "risk"))
        axes[0].plot(coverage, risk, color=HIGHLIGHT, drawstyle="steps-post", marker="." if len(risk) < 2 else "")
        axes[0].axhline(100 * found.risk, color=FAINT, linestyle="--", linewidth=1)
        if found.chosen is not None:
            at = 100 * found.chosen.coverage, 100 * found.chosen.risk
            axes[0].plot(*at, "o", color=INK)
            label = f"threshold {found.chosen.threshold:.2f}"
            axes[0].annotate(label, at, xytext=(-6, 8), textcoords="offset points", ha="right")
        axes[0].set(xlabel="answers given, %", ylabel="of these wrong, %", xlim=(0, 102), ylim=(0, None))
        return saved(figure, "risk-coverage", title="What is gained by giving only the surest answers")
