/** The codes of problems of a definition. `server/help/problem-help.ts` has a text for each. */
export const PROBLEM_CODES = [
  ...(['NO_STEPS', 'NO_INITIAL_STEP', 'UNKNOWN_INITIAL_STEP', 'UNKNOWN_ON_CANCEL', 'UNKNOWN_ON_FAILURE'] as const),
  ...(['DUPLICATE_STEP_ID', 'UNKNOWN_STEP_TYPE', 'INVALID_CONFIG', 'INVALID_EXPRESSION', 'TYPE_MISMATCH'] as const),
  ...(['EXPRESSION_UNRESOLVED', 'TOOL_NOT_FOUND', 'AGENT_NOT_FOUND', 'WORKFLOW_NOT_FOUND'] as const),
  ...(['AGENT_NO_STRUCTURED_OUTPUT', 'AGENT_SUPERVISOR'] as const),
  ...(['SECRET_NOT_ALLOWED', 'DANGLING_EDGE', 'UNKNOWN_EXIT', 'AMBIGUOUS_EDGES', 'CYCLE'] as const),
  ...(['CYCLE_WITHOUT_BOUND', 'REGION_ENTERED', 'NESTED_TOO_DEEP', 'BRANCH_CONFLICT'] as const),
  ...(['PAUSE_IN_CLEANUP', 'FORK_IN_CLEANUP'] as const),
  ...(['W_REF_MAYBE', 'W_REF_NEVER', 'W_TYPE_MISMATCH', 'W_TOOL_ARGS', 'W_WORKFLOW_INPUT', 'W_BUSINESS_KEY'] as const),
  ...(['W_UNREACHABLE', 'W_EMPTY_BRANCH', 'W_BRANCH_OPEN', 'W_NO_END', 'W_SIMULATION'] as const),
  ...(['W_UNKNOWN_FIELD', 'W_USES_ARCHIVED', 'W_NO_SECRET', 'W_ASSIGNEE', 'W_APPROVAL', 'W_REMINDERS'] as const),
] as const
export type ProblemCode = (typeof PROBLEM_CODES)[number]
