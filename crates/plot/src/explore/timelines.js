// Timelines: one row per episode, one cell per state, from the first frame on.

const LABEL = 46;
const ROW = 15;

class Timelines {
  constructor(canvas, scroller, states, episodeLengths, findings) {
    Object.assign(this, { canvas, scroller, states, findings });
    // Only episodes of which the page has states.
    this.episodes = [];
    let before = -1;
    states.episode.forEach((episode, state) => {
      if (episode !== before) this.episodes.push({ episode, first: state, end: state });
      this.episodes[this.episodes.length - 1].end = state + 1;
      before = episode;
    });
    this.longest = Math.max(1, ...this.episodes.map(({ episode }) => episodeLengths[episode]));
    this.lengths = episodeLengths;
    this.rowOf = new Map(this.episodes.map(({ episode }, row) => [episode, row]));
    this.findingsOf = new Map();
    for (const finding of findings) {
      if (!this.findingsOf.has(finding.episode)) this.findingsOf.set(finding.episode, []);
      this.findingsOf.get(finding.episode).push(finding);
    }
  }

  // The canvas covers the visible part only and stays in place while rows are scrolled: a canvas of
  // thousands of rows would be slow to draw.
  resize() {
    this.width = this.scroller.clientWidth;
    this.height = this.scroller.clientHeight;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.parentElement.style.height = `${Math.max(ROW * this.episodes.length, this.height)}px`;
  }

  left(frame) {
    return LABEL + Math.round(frame / this.longest * (this.width - LABEL - 6));
  }

  // The state at a point of the canvas; -1 outside all episodes.
  stateAt(left, top) {
    const episode = this.episodes[Math.floor((top + this.scroller.scrollTop) / ROW)];
    if (!episode || left < LABEL) return -1;
    const frame = (left - LABEL) / (this.width - LABEL - 6) * this.longest;
    let state = episode.first;
    while (state + 1 < episode.end && this.states.frame[state + 1] <= frame) state++;
    return state;
  }

  // Scrolls to the episode of a state that was chosen elsewhere.
  reveal(state) {
    const top = this.rowOf.get(this.states.episode[state]) * ROW;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop || top + ROW > scrollTop + clientHeight) {
      this.scroller.scrollTop = top - clientHeight / 2;
    }
  }

  // Draws the visible rows.
  draw({ values, palette, max, cursor, start, goal, shows }) {
    const context = prepare(this.canvas, this.width, this.height);
    const { scrollTop } = this.scroller;
    const first = Math.floor(scrollTop / ROW);
    const end = Math.min(this.episodes.length, Math.ceil((scrollTop + this.height) / ROW));
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, this.width, this.height);
    context.translate(0, -scrollTop);
    context.font = "11px 'DejaVu Sans', Verdana, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let row = first; row < end; row++) {
      const { episode } = this.episodes[row];
      const top = row * ROW + 1;
      const strip = shows.findings ? ROW - 6 : ROW - 3;
      this.drawEpisode(context, this.episodes[row], top, strip, values, palette, max);
      if (shows.findings) this.drawFindings(context, palette, episode, top + strip);
      context.fillStyle = palette.muted;
      context.fillText(`@${episode}`, LABEL - 6, top + ROW / 2 - 1);
    }
    for (const [state, width] of [[cursor, 2], [start, 3], [goal, 3]]) {
      if (state >= 0) this.drawMark(context, palette, state, width);
    }
  }

  drawEpisode(context, { episode, first, end }, top, strip, values, palette, max) {
    const { frame } = this.states;
    for (let state = first; state < end; state++) {
      const shade = palette.shade(values[state], max);
      const next = state + 1 < end ? frame[state + 1] : this.lengths[episode];
      const [left, right] = [this.left(frame[state]), this.left(next)];
      context.fillStyle = shade < 0 ? palette.none : palette.css[shade];
      // A cell without a path is lower, so that it differs not only by its color.
      const height = shade < 0 ? strip / 3 : strip;
      context.fillRect(left, top + (strip - height) / 2, right - left, height);
    }
  }

  drawFindings(context, palette, episode, top) {
    context.fillStyle = palette.finding;
    for (const { first, end } of this.findingsOf.get(episode) ?? []) {
      const [left, right] = [this.left(first), this.left(Math.min(end, this.lengths[episode]))];
      context.fillRect(left, top, Math.max(2, right - left), 3);
    }
  }

  drawMark(context, palette, state, width) {
    const top = this.rowOf.get(this.states.episode[state]) * ROW;
    const left = this.left(this.states.frame[state]);
    context.fillStyle = palette.halo;
    context.fillRect(left - width / 2 - 1, top, width + 2, ROW);
    context.fillStyle = palette.path;
    context.fillRect(left - width / 2, top, width, ROW);
  }
}
