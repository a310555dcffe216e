"use strict";
// Moves between the marks of the answers and their places on the pages. Without it the marks are plain links.
(() => {
  const byId = (id) => document.getElementById(id);
  const chips = [...document.querySelectorAll("a.chip")];
  const [card, stepper, count, spoken] = ["card", "stepper", "count", "spoken"].map(byId);
  const targetOf = (link) => byId(link.hash.slice(1));
  const motion = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");
  let active = -1;
  let waiting = 0;

  // A box higher than the window shows its top; a smaller one is centred.
  const bring = (element) => {
    element.closest("details")?.setAttribute("open", "");
    const block = element.offsetHeight > innerHeight * 0.8 ? "start" : "center";
    element.scrollIntoView({ block, behavior: motion() });
  };

  // On wide screens the answer is a pane of its own: only that pane moves, the pages beside it stay.
  const reveal = (chip) => {
    const pane = chip.closest(".answer");
    const inner = chip.getBoundingClientRect();
    const outer = pane.getBoundingClientRect();
    if (inner.top < outer.top || inner.bottom > outer.bottom) {
      pane.scrollTop += inner.top - outer.top - outer.height / 2;
    }
  };

  const mark = (index) => {
    document.querySelectorAll(".active").forEach((each) => each.classList.remove("active"));
    document.querySelectorAll("[aria-current]").forEach((each) => each.removeAttribute("aria-current"));
    active = index;
    document.body.classList.toggle("stepping", index >= 0);
    count.textContent = index < 0 ? `${chips.length} citation${chips.length > 1 ? "s" : ""}` : `${index + 1} of ${chips.length}`;
    byId("back").hidden = index < 0;
    if (index < 0) return;
    chips[index].setAttribute("aria-current", "true");
    targetOf(chips[index]).classList.add("active");
    spoken.textContent = chips[index].getAttribute("aria-label");
  };

  const follow = (index) => {
    mark(index);
    hide();
    reveal(chips[index]);
    chips[index].dataset.quiet = "";
    chips[index].focus({ preventScroll: true });
    delete chips[index].dataset.quiet;
    bring(targetOf(chips[index]));
  };

  const step = (by) => {
    const focused = chips.indexOf(document.activeElement);
    const from = focused >= 0 ? focused : active;
    const next = active < 0 && focused >= 0 ? focused : from < 0 && by < 0 ? -1 : from + by;
    follow((next + chips.length) % chips.length);
  };

  const back = (index) => {
    mark(index);
    chips[index].scrollIntoView({ block: "center", behavior: motion() });
    chips[index].focus({ preventScroll: true });
  };

  const show = (chip) => {
    hide();
    const found = `.found[data-citation="${chip.dataset.citation}"]`;
    const parts = byId(chip.dataset.source).querySelectorAll(`.where, ${found}, .picture, .says`);
    card.replaceChildren(...[...parts].map((part) => part.cloneNode(true)));
    card.hidden = false;
    chip.setAttribute("aria-describedby", "card");
    place();
  };

  const place = () => {
    const at = document.querySelector("[aria-describedby=card]")?.getBoundingClientRect();
    if (!at) return;
    const below = at.bottom + 8 + card.offsetHeight < innerHeight;
    const left = Math.min(at.left - 16, document.documentElement.clientWidth - card.offsetWidth - 16);
    card.style.left = `${Math.max(16, left)}px`;
    card.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - 8 - card.offsetHeight)}px`;
  };

  const hide = () => {
    clearTimeout(waiting);
    card.hidden = true;
    document.querySelector("[aria-describedby=card]")?.removeAttribute("aria-describedby");
  };

  const hideSoon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(hide, 150);
  };

  for (const chip of chips) {
    chip.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && show(chip));
    chip.addEventListener("pointerleave", hideSoon);
    chip.addEventListener("focus", () => chip.matches(":focus-visible") && !("quiet" in chip.dataset) && show(chip));
    chip.addEventListener("blur", hide);
  }
  card.addEventListener("pointerenter", () => clearTimeout(waiting));
  card.addEventListener("pointerleave", hideSoon);
  addEventListener("scroll", place, { capture: true, passive: true });
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((each) => { each.open = true; }));

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    const own = chips.indexOf(link);
    const box = link.closest(".evidence:not(.source)");
    const same = (chip) => targetOf(chip) === (box ?? targetOf(link));
    const index = own >= 0 ? own : active >= 0 && same(chips[active]) ? active : chips.findIndex(same);
    if (index < 0) return;
    event.preventDefault();
    if (box) back(index);
    else follow(index);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return card.hidden ? mark(-1) : hide();
    const by = { ArrowRight: 1, n: 1, ArrowLeft: -1, p: -1 }[event.key];
    if (!by || !chips.length) return;
    event.preventDefault();
    step(by);
  });

  stepper.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.id === "back") back(active);
    else if (button) step(Number(button.dataset.step));
  });

  stepper.hidden = !chips.length;
  mark(-1);
})();
