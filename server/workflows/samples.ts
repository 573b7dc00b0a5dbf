import type { Definition } from '../definition/schema'

/** Loaded into the first tenant, with fixed ids so that the documentation can refer to them. */
export const SAMPLE_WORKFLOWS: { id: string; definition: Definition }[] = [
  {
    id: 'wf_hello',
    definition: {
      name: 'Hello',
      description: 'Greets by name. Nothing waits for a person, so a sync start answers with the result.',
      initialStep: 'greet',
      payload: { name: { type: 'string', description: 'Who is greeted' } },
      steps: [
        { id: 'greet', type: 'call-tool', name: 'Greet', toolId: 'tool_greet', args: { name: '${name}' } },
        { id: 'end', type: 'end-flow', name: 'Done', output: { message: '${greeting}' } },
      ],
      edges: [{ from: 'greet', to: 'end' }],
    },
  },
  {
    id: 'wf_order_approval',
    definition: {
      name: 'Order approval',
      description: 'Asks for an order, then for a decision about it. The run waits for both as long as it takes.',
      initialStep: 'order',
      payload: {},
      steps: [
        {
          id: 'order',
          type: 'collect-inputs',
          name: 'The order',
          output: {
            item: { type: 'string', description: 'What is ordered' },
            amount: { type: 'number', description: 'What it costs' },
          },
        },
        {
          id: 'decision',
          type: 'request-user-action',
          name: 'The decision',
          title: 'Order of ${item}',
          message: 'May ${item} be bought for ${amount}?',
          actions: [
            { id: 'approve', label: 'Approve' },
            { id: 'reject', label: 'Reject' },
          ],
        },
        {
          id: 'end',
          type: 'end-flow',
          name: 'Done',
          output: { item: '${item}', amount: '${amount}', decision: '${decision.actionValue}' },
        },
      ],
      edges: [
        { from: 'order', to: 'decision' },
        { from: 'decision', to: 'end' },
      ],
    },
  },
  {
    id: 'wf_document',
    definition: {
      name: 'Document',
      description: 'Takes a file as the multipart part `attachment` and answers with its content.',
      initialStep: 'read',
      payload: {
        fileId: { type: 'file', description: 'The document; filled by the part `attachment` of a multipart start' },
      },
      steps: [
        {
          id: 'read',
          type: 'call-tool',
          name: 'Read the document',
          toolId: 'tool_read_file',
          args: { fileId: '${fileId}', as: 'text', maxBytes: 65_536 },
        },
        {
          id: 'end',
          type: 'end-flow',
          name: 'Done',
          output: { fileId: '${fileId}', name: '${name}', type: '${type}', size: '${size}', text: '${content}' },
        },
      ],
      edges: [{ from: 'read', to: 'end' }],
    },
  },
  {
    id: 'wf_agent_triage',
    definition: {
      name: 'Agent triage',
      description: 'An agent makes data of a message, and a tool routes it. Works without a model key.',
      initialStep: 'read',
      payload: { text: { type: 'string', description: 'What the customer wrote' } },
      steps: [
        {
          id: 'read',
          type: 'call-agent',
          name: 'Read the message',
          agentId: 'agt_extract',
          version: 'published',
          message: '${text}',
          dataContext: '${_}',
          saveAs: 'ticket',
        },
        { id: 'route', type: 'call-tool', name: 'Route it', toolId: 'tool_route', args: { ticket: '${ticket}' } },
        { id: 'end', type: 'end-flow', name: 'Done', output: { ticket: '${ticket}', team: '${team}', all: '${_}' } },
      ],
      edges: [
        { from: 'read', to: 'route' },
        { from: 'route', to: 'end' },
      ],
    },
  },
  {
    id: 'wf_expense_approval',
    definition: {
      name: 'Expense approval',
      description:
        'Small expenses are approved at once. For large ones a person decides; a rejected one fails the run.',
      initialStep: 'large',
      payload: {
        amount: { type: 'number', description: 'What it costs' },
        purpose: { type: 'string', description: 'What it is for' },
      },
      steps: [
        { id: 'large', type: 'condition', name: 'More than 1,000?', when: '${amount} > 1000' },
        {
          id: 'decision',
          type: 'request-user-action',
          name: 'The decision',
          title: 'Expense: ${purpose}',
          message: 'May ${amount} be spent on ${purpose}?',
          actions: [
            { id: 'approve', label: 'Approve' },
            { id: 'reject', label: 'Reject' },
          ],
        },
        {
          id: 'approved',
          type: 'set-data',
          name: 'Approved',
          values: { status: 'approved' },
          compute: { decidedBy: '${amount} > 1000 ? "person" : "rule"' },
        },
        {
          id: 'end',
          type: 'end-flow',
          name: 'Done',
          output: { purpose: '${purpose}', amount: '${amount}', status: '${status}', decidedBy: '${decidedBy}' },
        },
        {
          id: 'rejected',
          type: 'fail-flow',
          name: 'Rejected',
          code: 'EXPENSE_REJECTED',
          message: 'Nobody may spend ${amount} on ${purpose}.',
        },
      ],
      edges: [
        { from: 'large', to: 'decision', on: 'true' },
        { from: 'large', to: 'approved', on: 'false' },
        { from: 'decision', to: 'approved', on: 'approve' },
        { from: 'decision', to: 'rejected', on: 'reject' },
        { from: 'approved', to: 'end' },
      ],
    },
  },
]
