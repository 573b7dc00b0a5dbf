import { notServedHere } from '@/inngest/public'
import { served } from '@/inngest/serve'
import { answerNotFound } from '@/server/http/not-found'

export const GET = notServedHere(served.GET)
export const POST = notServedHere(served.POST)
export const PUT = notServedHere(served.PUT)
const unknown = (request: Request) => answerNotFound(request)
export const PATCH = unknown
export const DELETE = unknown
export const OPTIONS = unknown

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
