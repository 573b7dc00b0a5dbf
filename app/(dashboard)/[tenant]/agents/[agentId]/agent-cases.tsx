'use client'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListPlus } from 'lucide-react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { KeepAgentCase } from '@/server/agents/test-cases'
import { TestCases } from '../../_test-cases/test-cases'
import type { OnScreen } from '../../_versioned/on-screen'
import type { Agent, AgentForm } from './agent-form'
import { useCaseChanges } from './use-case-changes'

/** The agent's test cases: saved threads and the expectation for their last answer. */
export function AgentCases({ agent, onScreen }: { agent: Agent; onScreen: OnScreen<AgentForm> | null }) {
  const { id } = agent
  const trpc = useTRPC()
  const { agents } = useTRPCClient()
  const url = useUrlState()
  const changed = useCaseChanges(id)
  const list = useQuery(trpc.agents.cases.queryOptions({ id }))
  const form = onScreen?.form ?? null
  return (
    <TestCases
      list={list}
      form={form}
      obstacle={onScreen?.obstacle ?? null}
      server={{
        run: (only) => agents.runCases.mutate({ id, body: { draft: form ?? {}, ...(only ? { only } : {}) } }),
        rename: (caseId, name) => changed(agents.renameCase.mutate({ id, caseId, name })),
        // One of the kinds below.
        change: (caseId, expected) =>
          changed(agents.changeExpected.mutate({ id, caseId, expected: expected as KeepAgentCase['expected'] })),
        remove: (caseId) => changed(agents.deleteCase.mutate({ id, caseId })),
      }}
      kinds={['succeeds', 'fields', 'contains']}
      empty={
        form
          ? 'None yet. Talk to the agent in the playground and keep the thread: it then runs each time before the agent is published.'
          : 'This agent has no test cases.'
      }
      open={{
        label: 'Open its thread',
        onOpen: ({ threadId }) => url.set({ tab: 'playground', thread: threadId }),
      }}
    >
      {form && (
        <Button
          variant="default"
          leftSection={<ListPlus size={16} aria-hidden />}
          onClick={() => url.set({ tab: 'playground' })}
        >
          Keep a thread of the playground
        </Button>
      )}
    </TestCases>
  )
}
