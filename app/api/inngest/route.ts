import { notServedHere } from '@/inngest/public'
import { served } from '@/inngest/serve'

export const GET = notServedHere(served.GET)
export const POST = notServedHere(served.POST)
export const PUT = notServedHere(served.PUT)
