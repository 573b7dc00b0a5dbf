import type { Definition } from '../definition/schema'

/** An agent reads a document, and a person corrects it. */
export const EXTRACTION: Definition = {
  name: 'Document extraction',
  description:
    'An agent reads an invoice from a text file. If part of it is illegible, or the agent fails, a person fills in what it says. Works without a model key.',
  initialStep: 'read',
  payload: {
    fileId: { type: 'file', description: 'The invoice, as a text file with lines such as total: 240.50' },
  },
  steps: [
    {
      id: 'read',
      type: 'call-tool',
      name: 'Read the file',
      toolId: 'tool_read_file',
      args: { fileId: '${fileId}', as: 'text', maxBytes: 65_536 },
      saveAs: 'document',
    },
    {
      id: 'extract',
      type: 'call-agent',
      name: 'Extract the invoice',
      agentId: 'agt_invoice',
      message: '${document.content}',
      saveAs: 'found',
    },
    { id: 'clear', type: 'condition', name: 'All legible?', when: '!${found.illegible}' },
    {
      id: 'accept',
      type: 'set-data',
      name: 'Use what the agent read',
      values: {
        invoice: { supplier: '${found.supplier}', total: '${found.total}', due: '${found.due}' },
        checkedBy: 'agent',
      },
    },
    {
      id: 'correct',
      type: 'collect-inputs',
      name: 'A person corrects it',
      title: 'Invoice in ${document.name}',
      message: 'The agent could not read all of this invoice. Please fill in what it says.',
      show: [
        { label: 'Supplier, as read', value: '${found.supplier ?? "unknown"}' },
        { label: 'Total, as read', value: '${found.total ?? "unknown"}' },
        { label: 'Due, as read', value: '${found.due ?? "unknown"}' },
        { label: 'The file', value: '${document.content}' },
      ],
      output: {
        supplier: { type: 'string', description: 'Who sent it' },
        total: { type: 'number', description: 'What is to be paid' },
        due: { type: 'string', description: 'Until when, such as 2026-04-01' },
      },
      assignees: ['role:operator'],
      dueIn: 'P1D',
    },
    {
      id: 'corrected',
      type: 'set-data',
      name: 'Use what the person wrote',
      values: { invoice: { supplier: '${supplier}', total: '${total}', due: '${due}' }, checkedBy: 'person' },
    },
    {
      id: 'end',
      type: 'end-flow',
      name: 'Done',
      output: { invoice: '${invoice}', checkedBy: '${checkedBy}', file: '${document.name}' },
    },
  ],
  edges: [
    { from: 'read', to: 'extract' },
    { from: 'extract', to: 'clear' },
    { from: 'extract', to: 'correct', on: 'error' },
    { from: 'clear', to: 'accept', on: 'true' },
    { from: 'clear', to: 'correct', on: 'false' },
    { from: 'correct', to: 'corrected' },
    { from: 'accept', to: 'end' },
    { from: 'corrected', to: 'end' },
  ],
}
