/** The codes with which only runs fail. `server/help/run-failure-help.ts` has a text for each. */
export const RUN_FAILURES = [
  ...(['EXECUTION_ERROR', 'HTTP_ERROR', 'CONNECTION_ERROR', 'TRANSIENT', 'BLOCKED_HOST', 'SECRET_MISSING'] as const),
  ...(['SECRET_NOT_ALLOWED', 'TIMED_OUT', 'TIMEOUT', 'RUN_TIMED_OUT', 'CLEANUP_TIMED_OUT', 'OUTPUT_INVALID'] as const),
  ...([
    'INVALID_CONFIG',
    'EXPRESSION_UNRESOLVED',
    'EXPRESSION_FAILED',
    'CONFIG_TOO_LARGE',
    'OUTPUT_TOO_LARGE',
  ] as const),
  ...(['DATA_TOO_LARGE', 'VALUE_TOO_LARGE', 'VALUE_REFUSED', 'LOOP_LIMIT', 'NESTED_TOO_DEEP', 'CHILD_FAILED'] as const),
  ...(['JOIN_IMPOSSIBLE', 'STOPPED', 'WORKER_LOST', 'ENGINE_GAVE_UP', 'UNKNOWN_STEP'] as const),
  ...(['PAUSE_IN_CLEANUP', 'FORK_IN_CLEANUP', 'APPROVAL_NOT_POSSIBLE', 'TURN_TOO_LONG'] as const),
] as const
export type RunFailure = (typeof RUN_FAILURES)[number]

/** Codes of responses with which runs also fail. */
const OF_RESPONSES = [
  ...['MODEL_ERROR', 'TOOL_NOT_FOUND', 'AGENT_NOT_FOUND', 'WORKFLOW_NOT_FOUND', 'THREAD_BUSY', 'THREAD_NOT_FOUND'],
  ...['INVALID_INPUT', 'FILE_NOT_FOUND', 'MESSAGE_REQUIRED', 'OUTPUT_SCHEMA_MISMATCH', 'UNAVAILABLE', 'INTERNAL'],
  ...['BUDGET_EXCEEDED', 'FILE_NOT_SUPPORTED'],
]

/** Whether `/errors` has a page about a code. Tools and `fail-flow` steps have codes of their own. */
export function isExplained(code: string): boolean {
  return [...RUN_FAILURES, ...OF_RESPONSES].includes(code)
}
