'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { useUrlState } from '@/app/_ui/use-url-state'
import { ON_SCREEN, type OnScreen } from '../../_versioned/on-screen'
import type { Agent, AgentForm, ShownAgent } from './agent-form'
import { type Attached, useTurn } from './use-turn'

export type Talk = ReturnType<typeof useTalk>

/**
 * The state of a conversation with an agent: the message being written, the turn in progress and the last result. The
 * screen holds it, because the playground is on one tab and, where there is room, also beside the form on another.
 * @param onScreen null for users who may not change the agent
 */
export function useTalk(saved: Agent, onScreen: OnScreen<AgentForm> | null) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const url = useUrlState()
  const [version, setVersion] = useState(onScreen ? ON_SCREEN : 'latest')
  const [text, setText] = useState('')
  const [dataContext, setDataContext] = useState('')
  const [files, setFiles] = useState<Attached[]>([])
  const sent = useRef<Attached[]>([])
  const seen = version === ON_SCREEN ? onScreen : null
  const agent: ShownAgent = seen ? { ...saved, ...seen.form } : saved
  const agentId = agent.id
  const structured = agent.outputSchema !== null && !agent.supervisor
  const turn = useTurn({
    agentId,
    structured,
    onThread: async (id) => {
      // Loaded before it is shown, so that nothing flickers between the live turn and the saved one.
      await queries
        .fetchQuery({ ...trpc.agents.thread.queryOptions({ agentId, threadId: id }), staleTime: 0 })
        .catch(() => {})
      url.set({ thread: id })
      queries.invalidateQueries({ queryKey: trpc.agents.threads.pathKey() }).catch(() => {})
    },
    // The thread does not store a failed turn, so its text and files return to the input.
    onFailed: (message) => {
      setText((now) => (now === '' ? message : now))
      setFiles((now) => (now.length === 0 ? sent.current : now))
    },
  })
  /** Empties the input. @returns the files that go with the message */
  const takeAll = () => {
    sent.current = files
    setText('')
    setFiles([])
    return files
  }
  const open = (id: string | null) => {
    turn.clear()
    url.set({ thread: id })
  }
  const threadId = url.get('thread') || null
  return {
    ...{ agent, structured, threadId, open, turn },
    ...{ version, setVersion, text, setText, dataContext, setDataContext, files, setFiles, takeAll },
  }
}
