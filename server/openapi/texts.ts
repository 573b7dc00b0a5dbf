import { RUN_ID, WORKFLOW_ID } from './examples'

const AGENT_TEXTS = {
  name: 'Not unique.',
  description: 'Text for people, and for agents that hand something over.',
  instructions: 'What the agent is told before every message.',
  model: 'The model it speaks with.',
  tools: 'The tools it may call: ids, or ids with versions.',
  outputSchema: 'JSON Schema of its answers, an object; null for an agent that answers in words.',
  supervisor: 'Whether it hands messages to other agents. Such a one cannot be asked for data.',
  handoffs: 'The agents it may hand something to: ids, or ids with versions.',
}

const TOOL_TEXTS = {
  name: 'Not unique.',
  description: 'For agents, which choose by it, and for people.',
  kind: 'What the tool is.',
  config: 'What the tool does. Its fields depend on the kind: see the schema `ToolConfig`.',
  inputSchema: 'JSON Schema of its arguments; null when they are not checked.',
  outputSchema: 'JSON Schema of its result; null when it is not checked.',
}

/** What the fields mean of those schemas that the verbs parse with, by the schema's name and the field's. */
export const FIELD_TEXTS: Record<string, Record<string, string>> = {
  CreateWorkflow: {
    name: 'Not unique.',
    description: 'Text for people.',
    initialStep: 'The id of the step where a run begins; the first step unless given.',
    steps: 'An incomplete graph is a legal draft; it is judged at publish and at start.',
    edges: 'How the steps follow each other.',
    payload: 'The START fields by name.',
    onCancel: 'The first step of the path that runs when a run is cancelled.',
  },
  UpdateWorkflow: {
    name: 'Stays as it is when absent, like every field.',
    description: 'Text for people.',
    initialStep: 'The id of the step where a run begins; null means the first step.',
    steps: 'Replaces all steps.',
    edges: 'Replaces all edges.',
    payload: 'Replaces all START fields.',
    onCancel: 'The first step of the path that runs when a run is cancelled; null takes it away.',
    version: 'The version you have seen. When there is a newer one, nothing is saved and the answer is 409.',
  },
  ResumeRun: {
    type: 'Must match the `type` of the pause.',
    data: 'Values for the `fields` of the pause.',
    actionId: 'One of the offered `actions`.',
    actionValue: 'What is kept as the choice; the id of the action unless given.',
    stepId: 'Answer only a pause of this step.',
    pauseId: 'Answer only this pause.',
  },
  StopRun: {
    runId: 'The run to stop.',
    workflowId: 'When given, it must be the workflow of the run.',
    reason: 'Kept in the history of the run.',
  },
  RerunRun: { data: 'Input in place of what the old run had.' },
  InvokeAgent: {
    message: 'What is said to the agent.',
    dataContext: 'More that the agent and its tools can read.',
    threadId: 'Of an earlier answer, to go on with that conversation.',
    version: '`latest`, `published`, or a number, also as text.',
  },
  Chat: {
    agentId: 'Whom to speak with.',
    message: 'What is said to the agent.',
    dataContext: 'More that the agent and its tools can read.',
    threadId: 'Of an earlier answer, to go on with that conversation.',
    version: '`latest`, `published`, or a number, also as text.',
  },
  CreateTool: TOOL_TEXTS,
  UpdateTool: {
    ...TOOL_TEXTS,
    version: 'The version you have seen. When there is a newer one, nothing is saved and the answer is 409.',
  },
  ToolConfig: { kind: 'What the tool is.', config: 'What a tool of this kind does.' },
  McpServer: {
    url: 'Of its streamable HTTP endpoint.',
    headers: 'Sent with every request; may name `${secrets.NAME}`.',
    timeoutMs: 'How long to wait. In milliseconds.',
  },
  CreateAgent: AGENT_TEXTS,
  UpdateAgent: {
    ...AGENT_TEXTS,
    version: 'The version you have seen. When there is a newer one, nothing is saved and the answer is 409.',
  },
  ModelConfig: {
    provider: 'Who runs the model. `scripted` needs no key and is for trying things out.',
    modelId: 'In the words of the provider.',
    baseUrl: 'Of an `openai-compatible` service, such as `https://llm.example.com/v1`; of no other.',
    apiKey: 'Names the secret that holds the key, such as `${secrets.OPENAI_API_KEY}`; never the key itself.',
    settings: 'Settings of a call. Unknown ones are refused.',
    prices: 'Of a million tokens, in any one currency; with them answers say what they cost.',
  },
  InvokeTool: {
    args: 'The arguments of the tool.',
    dataContext: 'More that the tool can read.',
    version: '`latest`, `published`, or a number, also as text.',
  },
  Field: {
    type: 'What a value must be. `file` is the reference of a stored file.',
    description: 'Text for people.',
    required: 'True unless it says false or there is a default.',
    default: 'Taken when no value is sent.',
    options: 'The only values allowed.',
  },
  Step: {
    id: 'Unique within the workflow. Letters, digits, `_` and `-`.',
    type: 'Such as `call-tool`. Each type has fields of its own: see the schemas whose names end in `Step`.',
  },
  Edge: { from: 'The id of a step.', to: 'The id of the step that follows.' },
  CollectInputsStep: {
    output: 'The fields to ask for, by name. What is given is merged into the run’s data.',
    title: 'Shown to the person who is asked.',
    message: 'Shown to the person who is asked.',
    skipWhenPresent: 'Go on without asking when the run’s data has every field already.',
  },
  RequestUserActionStep: {
    title: 'Shown to the person who is asked.',
    message: 'Shown to the person who is asked.',
    actions: 'What may be chosen.',
  },
  CallToolStep: {
    toolId: 'The tool to call.',
    args: 'Its arguments; may hold expressions.',
    version: '`latest` (unless given), `published` or a number.',
  },
  EndFlowStep: { output: 'The result of the run; its whole data unless given.' },
}

/** What every step may say, whatever its type. */
export const COMMON_STEP_TEXTS: Record<string, string> = {
  name: 'The name that history shows.',
  description: 'Text for people.',
  position: 'Where the editor draws it.',
  saveAs: 'The name under which the output is put into the run’s data, in place of field by field.',
  timeoutMs: 'How long one attempt may take. In milliseconds.',
  retry: 'How a step that may pass by itself is tried again.',
}

/** What the parameters of queries mean, by operation and name. */
export const QUERY_TEXTS: Record<string, Record<string, string>> = {
  startWorkflow: { version: '`published`, `latest` or a number. The published version unless given.' },
  startWorkflowAsync: { version: '`published`, `latest` or a number. The published version unless given.' },
  listRuns: {
    workflowId: 'Only runs of this workflow.',
    status: 'Only runs in this state.',
    outcome: 'Only runs that ended so.',
    limit: 'At most so many; 50 unless given.',
    cursor: 'The `nextCursor` of the page before.',
  },
  getRunHistory: {
    limit: 'At most so many; 100 unless given.',
    after: 'The `next` of the page before.',
  },
  getRunValue: {
    field: 'Which value.',
    record: 'The record whose value is meant; without it, a value of the run.',
  },
  listWorkflows: {
    search: 'A part of the name or the description, in any case.',
    status: 'Only workflows in this state.',
    includeArchived: 'Archived ones are left out unless this is true.',
    limit: 'At most so many; everything up to 1000 unless given.',
    offset: 'Leave out so many from the beginning.',
  },
  listWorkflowVersions: {
    limit: 'At most so many; everything up to 1000 unless given.',
    offset: 'Leave out so many from the beginning.',
  },
  listAgents: {
    search: 'A part of the name or the description, in any case.',
    status: 'Only agents in this state.',
    includeArchived: 'Archived ones are left out unless this is true.',
    limit: 'At most so many; everything up to 1000 unless given.',
    offset: 'Leave out so many from the beginning.',
  },
  listAgentVersions: {
    limit: 'At most so many; everything up to 1000 unless given.',
    offset: 'Leave out so many from the beginning.',
  },
  listTools: {
    search: 'A part of the name or the description, in any case.',
    status: 'Only tools in this state.',
    kind: 'Only tools of this kind.',
    includeArchived: 'Archived ones are left out unless this is true.',
    limit: 'At most so many; everything up to 1000 unless given.',
    offset: 'Leave out so many from the beginning.',
  },
  listToolVersions: {
    limit: 'At most so many; everything up to 1000 unless given.',
    offset: 'Leave out so many from the beginning.',
  },
  getAgentSchema: { version: '`latest` (unless given), `published` or a number.' },
  deleteWorkflowPermanently: { terminateRuns: 'End the open runs first, which stand in the way otherwise.' },
}

/** What the parameters of paths mean, by the first part of the path and the name. */
export const PATH_TEXTS: Record<string, { description: string; example: string }> = {
  'workflow.workflowId': { description: 'The workflow.', example: 'wf_hello' },
  'workflow.runId': { description: 'The run.', example: RUN_ID },
  'workflows.id': { description: 'The workflow.', example: WORKFLOW_ID },
  'workflows.version': { description: 'A number, `latest` or `published`.', example: '1' },
  'agents.agentId': { description: 'The agent.', example: 'agt_01KAHVD2S40000K6T8W3Y1M5QN' },
  'agents.version': { description: 'A number, `latest` or `published`.', example: '1' },
  'tools.toolId': { description: 'The tool.', example: 'tool_add' },
  'tools.version': { description: 'A number, `latest` or `published`.', example: '1' },
  'files.id': { description: 'The reference of the file, a UUID.', example: '0b9c3c5e-58a3-4f0e-9a8e-6d2f5f1d7c11' },
}
