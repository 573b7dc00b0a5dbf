import { bindApiTable } from '@/server/rest/reference/api-table'
import { handleTrpc } from '@/server/trpc/handler'

// The reference page tries calls with the routes themselves.
bindApiTable(async () => (await import('../../routes')).ROUTES)

export const GET = handleTrpc
export const POST = handleTrpc

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
