/** A chain of tool calls, each with a position on the canvas. */
export function longWorkflow(steps: number, toolId: string) {
  const id = (index: number) => `step_${index}`
  return {
    name: `Long way of ${steps} steps`,
    initialStep: id(0),
    steps: Array.from({ length: steps }, (_, index) => ({
      id: id(index),
      type: 'call-tool',
      name: `Look up article ${index + 1}`,
      toolId,
      args: { article: 'AX-210' },
      position: { x: (index % 10) * 260, y: Math.floor(index / 10) * 160 },
    })),
    edges: Array.from({ length: steps - 1 }, (_, index) => ({ from: id(index), to: id(index + 1) })),
  }
}
