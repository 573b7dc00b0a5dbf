import { handleTrpc } from '@/server/trpc/handler'

export const GET = handleTrpc
export const POST = handleTrpc

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
