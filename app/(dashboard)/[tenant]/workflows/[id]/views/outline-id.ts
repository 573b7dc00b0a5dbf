export function outlineId(stepId: string): string {
  return `outline-${stepId}`
}
