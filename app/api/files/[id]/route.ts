import { downloadHeaders } from '@/server/files/download-headers'
import { readFile } from '@/server/files/read'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/files/[id]', {
  GET: route<'id'>(async ({ ctx, params }) => {
    const { file, bytes } = await readFile(ctx, { fileId: params.id })
    return { headers: downloadHeaders(file), body: bytes }
  }),
})
