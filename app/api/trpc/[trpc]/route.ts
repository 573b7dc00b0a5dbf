import { handleTrpc } from '@/server/trpc/handler'

export const GET = handleTrpc
export const POST = handleTrpc
