/** What a card shows when zoomed out: its name in larger letters, or nothing. */
export type Far = 'names' | 'boxes' | null

/** Marks a graph for the styles of its cards, which then need not render again. */
export function markFar(graph: HTMLElement | null, far: Far): void {
  if (!graph || (graph.dataset.far ?? null) === far) return
  if (far === null) delete graph.dataset.far
  else graph.dataset.far = far
}
