import type { Invocation } from '@/server/agents/answer-with-data'
import * as chats from '@/server/talk/chat'
import type { ChatAnswer } from '@/server/talk/chat-answer'
import * as invokes from '@/server/talk/invoke'

// The verbs, with agents that ask nobody.

export async function invokeAgent(...given: Parameters<typeof invokes.invokeAgent>): Promise<Invocation> {
  return answerOf(await invokes.invokeAgent(...given))
}

export async function invokeDraftAgent(...given: Parameters<typeof invokes.invokeDraftAgent>): Promise<Invocation> {
  return answerOf(await invokes.invokeDraftAgent(...given))
}

export async function chat(...given: Parameters<typeof chats.chat>): Promise<ChatAnswer> {
  return answerOf(await chats.chat(...given))
}

function answerOf<T extends object>(answer: T): Exclude<T, { runId: string }> {
  if ('runId' in answer) throw new Error(`the turn waits: ${answer.runId}`)
  return answer as Exclude<T, { runId: string }>
}
