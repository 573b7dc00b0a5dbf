import { z } from 'zod'
import { now } from '../clock'
import { database } from '../database'
import * as answers from '../files/direct/answers'
import { beginUpload } from '../files/direct/begin'
import { cancelUpload } from '../files/direct/cancel'
import { completeUpload } from '../files/direct/complete'
import { receiveUpload } from '../files/direct/receive'
import { BeginUpload } from '../files/direct/schema'
import { storeForm } from '../files/direct/store'
import { downloadHeaders } from '../files/download-headers'
import { bodyChunks } from '../http/body'
import { FILE_PART, MAX_FILE_BYTES, MultipartInput } from '../http/multipart-input'
import { originOf } from '../http/origin'
import { log } from '../log'
import { answer } from '../openapi/answer'
import { endpoint, publicEndpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import type { Schema } from '../openapi/types'
import { openDownload } from './download-file'

const FILE = '0b9c3c5e-58a3-4f0e-9a8e-6d2f5f1d7c11'
const id = { description: 'The file’s id, a UUID.', example: FILE }

/** The form that may be sent instead of JSON. */
const UPLOAD_FORM: Schema = {
  type: 'object',
  properties: {
    [FILE_PART]: {
      description: `The file, at most ${MAX_FILE_BYTES.toLocaleString('en')} bytes.`,
      type: 'string',
      format: 'binary',
    },
  },
  required: [FILE_PART],
}

export const FILE_ENDPOINTS = {
  beginUpload: endpoint({
    method: 'POST',
    path: '/api/files',
    tag: 'Files',
    summary: 'Upload a file, or begin to',
    description:
      'A form with the part `attachment` stores a file of at most 3,932,160 bytes, for `files` of a message to an agent or for a field for files. JSON begins the upload of a larger one, up to `UPLOAD_LIMIT_MB` (25 MB unless set): send the bytes as the response says, then complete the upload, then give its id to a field for files: of a start, or of an answer. Only the caller who uploads a file can use it. If no message and no run takes it, it is removed after an hour. With S3 storage, only the form is available.',
    permission: 'file:upload',
    body: {
      schema: BeginUpload,
      required: true,
      form: UPLOAD_FORM,
      examples: { report: example('A report', { name: 'report.pdf', type: 'application/pdf', size: 10_485_760 }) },
    },
    answers: {
      201: answer(
        'The stored file, or where the bytes of a larger one go.',
        answers.BegunUpload.or(answers.StoredUpload),
        {
          stored: example('A file of a form', { fileId: FILE, name: 'scan.png', type: 'image/png', size: 48_211 }),
          put: example('To the service', {
            id: FILE,
            expiresAt: '2026-01-05T09:45:00.000Z',
            put: {
              url: `https://millrace.example.com/api/files/${FILE}/content`,
              headers: { 'x-upload-token': 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl' },
            },
            blob: null,
          }),
        },
      ),
    },
    errors: ['FILE_TOO_LARGE', 'CONFLICT'],
    // No `Idempotency-Key`: a stored answer would hold the token.
    run: async ({ ctx, body, request }) => ({
      status: 201,
      body:
        body instanceof MultipartInput
          ? await storeForm(ctx, body)
          : await beginUpload(ctx, { body, origin: originOf(request.headers) }),
    }),
  }),
  sendUpload: publicEndpoint({
    method: 'PUT',
    path: '/api/files/{id}/content',
    parameters: { id },
    tag: 'Files',
    summary: 'Send the bytes of an upload',
    description:
      'The token is the credential: it opens this one file, once, for 15 minutes. After a failure the bytes may be sent again. A wrong or expired token counts as an unknown file.',
    bytes: 'The file itself, of exactly the size that was announced.',
    headers: ['X-Upload-Token'],
    answers: {
      200: answer('The bytes are stored.', answers.ReceivedUpload, {
        received: example('Received', { id: FILE, size: 10_485_760 }),
      }),
    },
    errors: ['INVALID_INPUT', 'FILE_NOT_FOUND', 'CONFLICT', 'RATE_LIMITED', 'UNAVAILABLE'],
    run: async ({ request, requestId, params }) => {
      const { headers } = request
      const visitor = { db: database().db, headers, log: log().child({ requestId }), now, requestId }
      return { body: await receiveUpload(visitor, { fileId: params.id, chunks: () => bodyChunks(request) }) }
    },
  }),
  completeUpload: endpoint({
    method: 'POST',
    path: '/api/files/{id}/complete',
    parameters: { id },
    tag: 'Files',
    summary: 'Complete an upload',
    description:
      'Checks that all bytes are stored, and detects the type of the file. Completing it again changes nothing.',
    permission: 'file:upload',
    answers: {
      200: answer('The file, which a run or a message may have now.', answers.Upload, {
        report: example('A report', { id: FILE, name: 'report.pdf', type: 'application/pdf', size: 10_485_760 }),
      }),
    },
    errors: ['FILE_NOT_FOUND', 'CONFLICT'],
    run: async ({ ctx, params }) => ({ body: { ...(await completeUpload(ctx, { fileId: params.id })) } }),
  }),
  cancelUpload: endpoint({
    method: 'DELETE',
    path: '/api/files/{id}',
    parameters: { id },
    tag: 'Files',
    summary: 'Cancel an upload',
    description:
      'Deletes an upload of the caller that no run and no message has yet, complete or not, and makes room for another. A file that a run or a thread has counts as unknown here: it is deleted with that.',
    permission: 'file:upload',
    answers: {
      200: answer('The upload is deleted.', answers.CancelledUpload, {
        cancelled: example('Cancelled', { id: FILE, deleted: true }),
      }),
    },
    errors: ['FILE_NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await cancelUpload(ctx, { fileId: params.id }) }),
  }),
  downloadFile: endpoint({
    method: 'GET',
    path: '/api/files/{id}',
    parameters: { id },
    tag: 'Files',
    summary: 'Download a file',
    description:
      'A file of a run or of a message to an agent, always as a download. Its type is detected from its bytes; HTML, SVG and other markup are `application/octet-stream`. It is kept as long as the run or the thread. Pages of this origin may also use the session of a signed-in person, or send the secret part of a task link as `x-task-link`.',
    permission: 'file:read',
    forPages: true,
    answers: {
      200: {
        description: 'The file. Its type is detected from its content.',
        contentType: '*/*',
        schema: z.string().meta({ format: 'binary' }),
        headers: ['ETag', 'Content-Disposition'],
      },
    },
    errors: ['FILE_NOT_FOUND'],
    run: async ({ ctx, params }) => {
      const { file, body } = await openDownload(ctx, { fileId: params.id })
      return { headers: { ...downloadHeaders(file), 'content-length': String(file.size) }, body }
    },
  }),
}
