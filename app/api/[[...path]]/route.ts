import { answerNotFound } from '@/server/http/not-found'
import { counted } from '@/server/rest/count-requests'

const answer = counted('other', answerNotFound)

export const GET = answer
export const POST = answer
export const PUT = answer
export const PATCH = answer
export const DELETE = answer
export const OPTIONS = answer
