'use client'
import { skipToken, useMutation } from '@tanstack/react-query'
import { useSubscription } from '@trpc/tanstack-react-query'
import { useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { RouterOutput } from '@/app/_trpc/types'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { AgentForm } from './agent-form'

/** A file that is attached to the message being written. */
export interface Attached {
  file: File
  /** Null until it is uploaded. */
  fileId: string | null
  problem: string | null
}

export type TurnBody = { message: string; dataContext?: JsonObject; threadId?: string } & (
  | { version: string; draft?: never }
  | { draft: AgentForm; version?: never }
)

export interface LiveTurn {
  message: string
  /** The names of its files. */
  files: string[]
  text: string
  /** The length of the text before the present call of the model. */
  kept: number
  calls: LiveCall[]
}
export interface LiveCall {
  id: string
  name: string
  args: JsonValue
  /** Null while it is running. */
  result: { ok: boolean; value: JsonValue } | null
}

/** The result of the last turn made on this page. */
export interface TurnResult {
  /** Null for a text answer. */
  data: JsonObject | null
  metadata: JsonObject
  /** The agent that answered, if it was the one on screen. */
  draft: AgentForm | null
  /** From the click to the answer. */
  ms: number
}

/** A turn that people decide about. */
export interface WaitingTurn {
  /** The run that continues it. */
  runId: string
  /** Of a draft. */
  isTest: boolean
  said: LiveTurn
}

interface Reading {
  lastEventId: string
  threadId: string
}

const NOTHING_SAID: LiveTurn = { message: '', files: [], text: '', kept: 0, calls: [] }

/** Sends a message to an agent: uses invoke for data, and streams text. */
export function useTurn(options: {
  agentId: string
  structured: boolean
  onThread: (threadId: string) => Promise<void>
  onFailed: (message: string) => void
}) {
  const { agentId, structured, onThread, onFailed } = options
  const trpc = useTRPC()
  const [live, setLive] = useState<LiveTurn | null>(null)
  const [result, setResult] = useState<TurnResult | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [waiting, setWaiting] = useState<WaitingTurn | null>(null)
  const [reading, setReading] = useState<Reading | null>(null)
  const begun = useRef(0)
  const asked = useRef<AgentForm | null>(null)
  const sent = useRef<LiveTurn>(NOTHING_SAID)
  const invoke = useMutation(trpc.agents.invoke.mutationOptions())
  const begin = useMutation(trpc.agents.beginChat.mutationOptions())
  const invokeDraft = useMutation(trpc.agents.invokeDraft.mutationOptions())
  const beginDraft = useMutation(trpc.agents.beginDraftChat.mutationOptions())

  async function end(threadId: string, done: { data: JsonObject | null; metadata: JsonObject }) {
    setResult({ ...done, draft: asked.current, ms: performance.now() - begun.current })
    setReading(null)
    // The live turn stays on screen until the thread shows it.
    await onThread(threadId)
    setLive(null)
  }
  function wait(threadId: string, runId: string) {
    setWaiting({ runId, isTest: asked.current !== null, said: sent.current })
    setReading(null)
    setLive(null)
    onThread(threadId).catch(() => {})
  }
  function fail(message: string, thrown: unknown) {
    setError(thrown)
    setReading(null)
    setLive(null)
    onFailed(message)
  }

  useSubscription(
    trpc.agents.chatEvents.subscriptionOptions(
      reading ? { agentId, lastEventId: reading.lastEventId } : (skipToken as never),
      {
        enabled: reading !== null,
        onData: ({ data: { event, data } }) => {
          const said = data as JsonObject
          if (event === 'message.done' && reading)
            end(reading.threadId, { data: null, metadata: (said.metadata ?? {}) as JsonObject }).catch(() => {})
          else if (event === 'message.waiting' && reading) wait(reading.threadId, String(said.runId))
          else if (event === 'error')
            fail(live?.message ?? '', { data: { error: { details: [], requestId: '', ...said } } })
          else setLive((now) => now && follow(now, event, said))
        },
        onError: (thrown) => fail(live?.message ?? '', thrown),
      },
    ),
  )

  return {
    live,
    result,
    error,
    waiting,
    clear: () => {
      setResult(null)
      setError(null)
      setWaiting(null)
    },
    send: ({ draft, version = 'latest', ...said }: TurnBody, attached: readonly Attached[] = []) => {
      const turn = { ...said, ...filesOf(attached) }
      begun.current = performance.now()
      asked.current = draft ?? null
      setResult(null)
      setError(null)
      setWaiting(null)
      sent.current = { ...NOTHING_SAID, message: turn.message, files: attached.map(({ file }) => file.name) }
      setLive(sent.current)
      const onError = (thrown: unknown) => fail(turn.message, thrown)
      const onSuccess = (answer: RouterOutput['agents']['invoke']) =>
        'runId' in answer
          ? wait(answer.threadId, answer.runId)
          : end(answer.threadId, { data: answer.data, metadata: answer.metadata as JsonObject })
      if (draft && structured) invokeDraft.mutate({ agentId, body: { ...turn, draft } }, { onError, onSuccess })
      else if (draft) beginDraft.mutate({ agentId, ...turn, draft }, { onError, onSuccess: setReading })
      else if (structured) invoke.mutate({ agentId, body: { ...turn, version } }, { onError, onSuccess })
      else begin.mutate({ agentId, ...turn, version }, { onError, onSuccess: setReading })
    },
  }
}

function filesOf(attached: readonly Attached[]): { files?: { fileId: string }[] } {
  const files = attached.flatMap(({ fileId }) => (fileId === null ? [] : { fileId }))
  return files.length > 0 ? { files } : {}
}

function follow(live: LiveTurn, event: string, data: JsonObject): LiveTurn {
  if (event === 'message.delta') return { ...live, text: live.text + String(data.text ?? '') }
  if (event === 'message.restart') return { ...live, text: live.text.slice(0, live.kept) }
  if (event === 'tool.call') {
    const call = { id: String(data.toolCallId), name: String(data.toolId), args: data.args ?? null, result: null }
    return { ...live, kept: live.text.length, calls: [...live.calls, call] }
  }
  if (event === 'tool.result') {
    const ok = data.success === true
    const value = (ok ? data.data : data.error) ?? null
    const calls = live.calls.map((call) => (call.id === data.toolCallId ? { ...call, result: { ok, value } } : call))
    return { ...live, calls }
  }
  return live
}
