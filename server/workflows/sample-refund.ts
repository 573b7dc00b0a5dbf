import type { Definition } from '../definition/schema'

/** An agent makes a refund, which a person approves first if it is large. The message is one that the built-in model can follow. */
export const REFUND: Definition = {
  name: 'Refund by an agent',
  description:
    'An agent refunds an order. Refunds over 100 need the decision of a person, who may lower the amount. Works without a model key.',
  initialStep: 'refund',
  payload: {
    orderId: { type: 'string', description: 'The order’s number' },
    amount: { type: 'number', description: 'What the customer asks for' },
  },
  steps: [
    {
      id: 'refund',
      type: 'call-agent',
      name: 'Refund the order',
      agentId: 'agt_refund',
      version: 'published',
      message: 'Please use tool_refund {"orderId": "${orderId}", "amount": ${amount}}',
      saveAs: 'refund',
    },
    {
      id: 'end',
      type: 'end-flow',
      name: 'Done',
      output: { orderId: '${orderId}', asked: '${amount}', refunded: '${refund.refunded}' },
    },
  ],
  edges: [{ from: 'refund', to: 'end' }],
}
