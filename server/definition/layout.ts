/** Positions of the editor's nodes, by step id; START is `#start`. */
export type Layout = Record<string, { x: number; y: number }>
