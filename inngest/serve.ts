import { InngestCommHandler } from 'inngest'
import { serve } from 'inngest/next'
import { env } from '@/server/env'
import { apart } from '@/server/telemetry/traces'
import { inngest } from './client'
import { deliverEvents, driveEvent } from './functions/deliver-events'
import { deliverWebhooks, driveDeliveries } from './functions/deliver-webhooks'
import { fireSchedules } from './functions/fire-schedules'
import { giveHeldAnswers } from './functions/give-held-answers'
import { driveWalk, runWorkflow } from './functions/run-workflow'
import { driveMail, sendMails } from './functions/send-mails'
import { driveChild, settleChildren } from './functions/settle-children'
import { sweep } from './functions/sweep'
import { sweepAll } from './functions/sweep-all'
import { sweepUnusedFiles } from './functions/sweep-files'

type Drive = typeof driveWalk | typeof driveDeliveries | typeof driveEvent | typeof driveChild | typeof driveMail

/** The engine's calls are not part of the request that triggered them. */
const byItself =
  <C, R>(drive: (call: C) => R) =>
  (call: C): R =>
    apart(() => drive(call))

/** Functions that record their steps themselves, so that the embedded engine may call them directly. */
export const handlers = new Map<string, Drive>([
  [runWorkflow.id(inngest.id), byItself(driveWalk)],
  [deliverWebhooks.id(inngest.id), byItself(driveDeliveries)],
  [deliverEvents.id(inngest.id), byItself(driveEvent)],
  [settleChildren.id(inngest.id), byItself(driveChild)],
  [sendMails.id(inngest.id), byItself(driveMail)],
])

const functions = [
  runWorkflow,
  deliverWebhooks,
  deliverEvents,
  settleChildren,
  giveHeldAnswers,
  sendMails,
  ...(env().engine === 'inngest' ? [sweepAll] : [fireSchedules, sweep, sweepUnusedFiles]),
]

/** The embedded engine's call to the functions. */
export interface FunctionCall {
  method: 'PUT' | 'POST'
  url: string
  headers: Record<string, string>
  body: unknown
}

const commHandler = new InngestCommHandler({
  frameworkName: 'embedded',
  client: inngest,
  functions,
  skipSignatureValidation: true,
  handler: (call: FunctionCall) => ({
    body: () => call.body,
    headers: (key: string) => call.headers[key.toLowerCase()] ?? null,
    method: () => call.method,
    url: () => new URL(call.url),
    transformResponse: (response: { status: number; headers: Record<string, string>; body: string }) => response,
  }),
})

/** Calls the functions in this process. Not reachable from outside. */
export const callFunctions = commHandler.createHandler()

/** The functions over HTTP, for a real Inngest server, which signs its calls. */
export const served = serve({ client: inngest, functions, enableUnauthedSync: false })
