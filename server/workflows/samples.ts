import type { Definition } from '../definition/schema'
import { EXTRACTION } from './sample-extraction'
import { FULFILMENT } from './sample-fulfilment'
import { REFUND } from './sample-refund'
import { REMINDERS } from './sample-reminders'

/** The card for people who decide about an expense. */
const EXPENSE_CARD = [
  { label: 'Purpose', value: '${purpose}' },
  { label: 'Amount', value: '${amount}' },
]
const EXPENSE_ACTIONS = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject' },
]

/** Loaded into the first tenant, with fixed ids so that the documentation can refer to them. */
export const SAMPLE_WORKFLOWS: { id: string; definition: Definition }[] = [
  {
    id: 'wf_hello',
    definition: {
      name: 'Hello',
      description: 'Greets by name. Nothing waits for a person, so the caller can wait for the result.',
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
          show: [
            { label: 'Item', value: '${item}' },
            { label: 'Amount', value: '${amount}' },
          ],
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
      description: 'Takes a file and returns its content.',
      initialStep: 'read',
      payload: {
        fileId: { type: 'file', description: 'The document. A multipart start sends it as the part named attachment.' },
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
      description: 'An agent turns a message into data, and a tool routes it. Works without a model key.',
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
        'Small expenses are approved at once, and large ones by a person. Very large ones need two people other than the requester; after three days an owner decides.',
      initialStep: 'large',
      payload: {
        amount: { type: 'number', description: 'What it costs' },
        purpose: { type: 'string', description: 'What it is for' },
      },
      steps: [
        { id: 'large', type: 'condition', name: 'More than 1,000?', when: '${amount} > 1000' },
        { id: 'larger', type: 'condition', name: 'More than 10,000?', when: '${amount} > 10000' },
        {
          id: 'decision',
          type: 'request-user-action',
          name: 'The decision',
          title: 'Expense: ${purpose}',
          message: 'May ${amount} be spent on ${purpose}?',
          show: EXPENSE_CARD,
          actions: EXPENSE_ACTIONS,
          dueIn: 'P1D',
        },
        {
          id: 'board',
          type: 'request-user-action',
          name: 'Two people decide',
          title: 'Large expense: ${purpose}',
          message: 'May ${amount} be spent on ${purpose}? It takes two people; one can reject it.',
          show: EXPENSE_CARD,
          actions: EXPENSE_ACTIONS,
          assignees: ['role:operator'],
          needs: { approve: 2, reject: 1 },
          noSelfApproval: true,
          dueIn: 'P1D',
          expiresIn: 'P3D',
        },
        {
          id: 'owner',
          type: 'request-user-action',
          name: 'An owner decides',
          title: 'Overdue expense: ${purpose}',
          message: 'Nobody decided in three days. May ${amount} be spent on ${purpose}?',
          show: EXPENSE_CARD,
          actions: EXPENSE_ACTIONS,
          assignees: ['role:owner'],
        },
        {
          id: 'approved',
          type: 'set-data',
          name: 'Approved',
          values: { status: 'approved' },
          compute: { decidedBy: '${amount} > 1000 ? "people" : "rule"' },
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
        { from: 'large', to: 'larger', on: 'true' },
        { from: 'large', to: 'approved', on: 'false' },
        { from: 'larger', to: 'board', on: 'true' },
        { from: 'larger', to: 'decision', on: 'false' },
        { from: 'board', to: 'owner', on: 'timeout' },
        ...['decision', 'board', 'owner'].flatMap((from) => [
          { from, to: 'approved', on: 'approve' },
          { from, to: 'rejected', on: 'reject' },
        ]),
        { from: 'approved', to: 'end' },
      ],
    },
  },
  {
    id: 'wf_supplier_onboarding',
    definition: {
      name: 'Supplier onboarding',
      description:
        'Three things at the same time: purchasing decides, finance enters the bank details, and each document gets a number.',
      initialStep: 'checks',
      payload: {
        supplier: { type: 'string', description: 'Who wants to supply' },
        documents: {
          type: 'array',
          description: 'The names of the documents received',
          default: ['Trade licence', 'Price list'],
        },
      },
      steps: [
        {
          id: 'checks',
          type: 'parallel',
          name: 'All at the same time',
          branches: [
            { id: 'purchasing', label: 'Purchasing' },
            { id: 'finance', label: 'Finance' },
            { id: 'papers', label: 'Documents' },
          ],
        },
        {
          id: 'decision',
          type: 'request-user-action',
          name: 'Purchasing decides',
          title: 'New supplier: ${supplier}',
          message: 'Accept ${supplier} as a supplier?',
          show: [
            { label: 'Supplier', value: '${supplier}' },
            { label: 'Documents', value: '${documents}' },
          ],
          actions: [
            { id: 'accept', label: 'Accept' },
            { id: 'decline', label: 'Decline' },
          ],
        },
        {
          id: 'bank',
          type: 'collect-inputs',
          name: 'Bank details',
          title: 'Bank details of ${supplier}',
          output: { iban: { type: 'string', description: 'Where invoices are paid' } },
        },
        {
          id: 'each',
          type: 'for-each',
          name: 'Each document',
          items: '${documents}',
          concurrency: 3,
          result: '${entry}',
          saveAs: 'register',
        },
        {
          id: 'entry',
          type: 'set-data',
          name: 'Number it',
          values: { entry: { number: '${index}', name: '${item}' } },
        },
        { id: 'accepted', type: 'condition', name: 'Accepted?', when: '${decision.actionId} == "accept"' },
        {
          id: 'end',
          type: 'end-flow',
          name: 'Done',
          output: { supplier: '${supplier}', iban: '${iban}', documents: '${register.results}' },
        },
        {
          id: 'declined',
          type: 'fail-flow',
          name: 'Declined',
          code: 'SUPPLIER_DECLINED',
          message: 'Purchasing declined ${supplier}.',
        },
      ],
      edges: [
        { from: 'checks', to: 'decision', on: 'purchasing' },
        { from: 'checks', to: 'bank', on: 'finance' },
        { from: 'checks', to: 'each', on: 'papers' },
        { from: 'each', to: 'entry', on: 'each' },
        { from: 'checks', to: 'accepted', on: 'done' },
        { from: 'accepted', to: 'end', on: 'true' },
        { from: 'accepted', to: 'declined', on: 'false' },
      ],
    },
  },
  {
    id: 'wf_order_payment',
    definition: {
      name: 'Order payment',
      description: 'Waits for the event order.paid of an order, for a week. Post it with the order’s number as key.',
      initialStep: 'paid',
      payload: {
        orderId: { type: 'string', description: 'The order’s number' },
        total: { type: 'number', description: 'What is to be paid' },
      },
      steps: [
        {
          id: 'paid',
          type: 'wait-for-event',
          name: 'Wait for the payment',
          event: 'order.paid',
          key: '${orderId}',
          when: '${event.data.amount} >= ${total}',
          expiresIn: 'P7D',
          saveAs: 'payment',
        },
        {
          id: 'end',
          type: 'end-flow',
          name: 'Done',
          output: { orderId: '${orderId}', amount: '${payment.data.amount}', paidAt: '${payment.receivedAt}' },
        },
        {
          id: 'unpaid',
          type: 'fail-flow',
          name: 'Not paid',
          code: 'ORDER_NOT_PAID',
          message: 'Nobody paid ${total} for ${orderId} within a week.',
        },
      ],
      edges: [
        { from: 'paid', to: 'end' },
        { from: 'paid', to: 'unpaid', on: 'timeout' },
      ],
    },
  },
  { id: 'wf_document_extraction', definition: EXTRACTION },
  { id: 'wf_refund', definition: REFUND },
  { id: 'wf_order_fulfilment', definition: FULFILMENT },
  { id: 'wf_payment_reminders', definition: REMINDERS },
]
