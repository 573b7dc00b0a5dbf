/** What is wrong with a definition, and where. Errors stand in the way of publishing; warnings do not. */
export interface Problem {
  [key: string]: string | undefined
  severity: 'error' | 'warning'
  code: string
  message: string
  stepId?: string
  field?: string
}
