/** Where the editor's nodes stand: by step id, START under `#start`. */
export type Layout = Record<string, { x: number; y: number }>
