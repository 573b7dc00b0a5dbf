import type { ServiceContext } from '@/server/context'
import { openDownload } from '@/server/vault/download-file'

/** A file as its reader gets it, whole. */
export async function readFile(ctx: ServiceContext, input: { fileId: string }) {
  const { file, body } = await openDownload(ctx, input)
  return { file, bytes: Buffer.from(await new Response(body as BodyInit).arrayBuffer()) }
}
