import { answerNotFound } from '@/server/http/not-found'
import { refusedHeaders } from '@/server/rest/cors'
import { counted } from '@/server/rest/count-requests'

const answer = counted('other', async (request) => answerNotFound(request, await refusedHeaders(request.headers)))

export const GET = answer
export const POST = answer
export const PUT = answer
export const PATCH = answer
export const DELETE = answer
export const OPTIONS = answer
