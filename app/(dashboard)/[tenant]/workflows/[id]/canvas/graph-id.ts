/** The element that the link past the toolbar leads to. */
export const GRAPH_ID = 'graph'
