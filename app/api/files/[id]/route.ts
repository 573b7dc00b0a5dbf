import { downloadHeaders } from '@/server/files/download-headers'
import { methods, route } from '@/server/rest/route'
import { downloadFile } from '@/server/vault/download-file'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/files/[id]', {
  GET: route<'id'>(async ({ ctx, params }) => {
    const { file, bytes } = await downloadFile(ctx, { fileId: params.id })
    return { headers: downloadHeaders(file), body: bytes }
  }),
})
