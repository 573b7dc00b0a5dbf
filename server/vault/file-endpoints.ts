import { z } from 'zod'
import { downloadHeaders } from '../files/download-headers'
import { endpoint } from '../openapi/endpoint'
import { downloadFile } from './download-file'

export const FILE_ENDPOINTS = {
  downloadFile: endpoint({
    method: 'GET',
    path: '/api/files/{id}',
    parameters: {
      id: { description: 'The file’s id, a UUID.', example: '0b9c3c5e-58a3-4f0e-9a8e-6d2f5f1d7c11' },
    },
    tag: 'Files',
    summary: 'Download a file',
    description:
      'A file sent when a run was started, always as a download. Its type is detected from its bytes; HTML, SVG and other markup are `application/octet-stream`. It is kept as long as the run. Pages of this origin may also use the session of a signed-in person, or send the secret part of a task link as `x-task-link`.',
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
      const { file, bytes } = await downloadFile(ctx, { fileId: params.id })
      return { headers: downloadHeaders(file), body: bytes }
    },
  }),
}
