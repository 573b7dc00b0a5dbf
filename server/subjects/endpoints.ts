import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import * as answers from './answers'
import { countSubjectData } from './count'
import { deleteSubjectData } from './delete'
import { DeleteSubjectData, SubjectData } from './schema'

const counts = { runs: 12, files: 3, threads: 2, events: 0, idempotencyKeys: 1 }

export const SUBJECT_ENDPOINTS = {
  countSubjectData: endpoint({
    method: 'GET',
    path: '/api/subjects/data',
    tag: 'Subjects',
    summary: 'Count the data of a subject',
    description: 'How much the deletion would delete, up to a limit. Changes nothing.',
    permission: 'subject:delete',
    query: SubjectData,
    answers: {
      200: answer('The counts.', answers.SubjectDataCount, {
        counts: example('Some data', { sub: 'user_123', ...counts, openRuns: 1, atLeast: false }),
      }),
    },
    errors: [],
    run: async ({ ctx, query }) => ({ body: await countSubjectData(ctx, query) }),
  }),
  deleteSubjectData: endpoint({
    method: 'DELETE',
    path: '/api/subjects/data',
    tag: 'Subjects',
    summary: 'Delete the data of a subject',
    description:
      'Cannot be undone. Deletes for up to 20 seconds; `done: false` asks for another call, and so does a call without a response. Refused while runs are open.',
    permission: 'subject:delete',
    query: DeleteSubjectData,
    answers: {
      200: answer('How much was deleted.', answers.DeletedSubjectData, {
        done: example('Everything', { sub: 'user_123', deleted: counts, done: true }),
      }),
    },
    errors: ['CONFLICT'],
    run: async ({ ctx, query }) => ({ body: await deleteSubjectData(ctx, query) }),
  }),
}
