import type { Definition } from '../definition/schema'

/** A failing step undoes the work of earlier ones. */
export const FULFILMENT: Definition = {
  name: 'Order fulfilment',
  description:
    'Reserves and charges an order. If the charge fails, as it does over 1,000, the reservation is released.',
  initialStep: 'reserve',
  payload: {
    orderId: { type: 'string', description: 'The order’s number' },
    amount: { type: 'number', description: 'What to charge' },
  },
  steps: [
    {
      id: 'reserve',
      type: 'run-script',
      name: 'Reserve the stock',
      args: { orderId: '${orderId}' },
      code: "return 'R-' + args.orderId",
      saveAs: 'reservation',
    },
    {
      id: 'charge',
      type: 'run-script',
      name: 'Charge the card',
      args: { orderId: '${orderId}', amount: '${amount}' },
      code: "if (args.amount > 1000) throw new Error('The card was declined')\nreturn 'P-' + args.orderId",
      saveAs: 'payment',
    },
    {
      id: 'end',
      type: 'end-flow',
      name: 'Done',
      output: { orderId: '${orderId}', reservation: '${reservation}', payment: '${payment}' },
    },
    {
      id: 'release',
      type: 'set-data',
      name: 'Release the stock',
      values: { released: '${reservation ?? ""}', notice: 'Order ${orderId}: ${error.message}' },
    },
  ],
  edges: [
    { from: 'reserve', to: 'charge' },
    { from: 'charge', to: 'end' },
  ],
  onFailure: 'release',
  businessKey: '${orderId}',
}
