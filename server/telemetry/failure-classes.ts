/**
 * The codes that are counted under their own name. Tools and `fail-flow` may have any others, and the number of classes
 * must stay small.
 */
const CLASSES = new Set([
  ...['TRANSIENT', 'HTTP_ERROR', 'CONNECTION_ERROR', 'BLOCKED_HOST', 'SECRET_MISSING', 'SECRET_NOT_ALLOWED'],
  ...['EXECUTION_ERROR', 'MODEL_ERROR', 'TOOL_NOT_FOUND', 'AGENT_NOT_FOUND', 'THREAD_BUSY', 'THREAD_NOT_FOUND'],
  ...['INVALID_INPUT', 'INVALID_CONFIG', 'OUTPUT_INVALID', 'OUTPUT_SCHEMA_MISMATCH', 'EXPRESSION_UNRESOLVED'],
  ...['EXPRESSION_FAILED', 'CONFIG_TOO_LARGE', 'OUTPUT_TOO_LARGE', 'DATA_TOO_LARGE', 'VALUE_TOO_LARGE'],
  ...['CLEANUP_TIMED_OUT', 'STOPPED', 'UNAVAILABLE', 'INTERNAL', 'WORKER_LOST', 'RUN_TIMED_OUT'],
  'BUDGET_EXCEEDED',
])

export function failureClass(code: string): string {
  return CLASSES.has(code) ? code : 'OTHER'
}
