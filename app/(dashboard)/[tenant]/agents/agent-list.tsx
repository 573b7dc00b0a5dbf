'use client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Bot, Braces, Users } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { useUrlState } from '@/app/_ui/use-url-state'
import { curl, useOrigin } from '../_versioned/curl'
import styles from '../_versioned/list.module.css'
import { listQuery } from '../_versioned/list-query'
import { ResourceList } from '../_versioned/resource-list'
import { useTenant } from '../tenant-context'
import { agentCurl } from './agent-curl'
import { NewAgentDialog } from './new-agent-dialog'
import { useAgentVerbs } from './use-agent-verbs'

export function AgentList() {
  const trpc = useTRPC()
  const url = useUrlState()
  const { may, id: tenantId } = useTenant()
  const origin = useOrigin()
  const verbs = useAgentVerbs()
  const [creating, setCreating] = useState(false)
  const list = useQuery({
    ...trpc.agents.list.queryOptions(listQuery(url.get)),
    placeholderData: keepPreviousData,
  })
  const mayWrite = may('agent:write')
  return (
    <>
      <ResourceList
        noun="agent"
        icon={Bot}
        rows={list.data?.items}
        total={list.data?.total ?? 0}
        error={list.error}
        onRetry={() => list.refetch()}
        filtered={url.get('q') !== '' || url.get('status') !== ''}
        mayWrite={mayWrite}
        onNew={() => setCreating(true)}
        columns={[
          { label: 'Model', cell: ({ provider, modelId }) => <Model provider={provider} modelId={modelId} /> },
          {
            label: 'Kind',
            cell: ({ structured, supervisor }) => (
              <span className={styles.mark}>
                {supervisor ? <Users size={14} aria-hidden /> : structured && <Braces size={14} aria-hidden />}
                {supervisor ? 'Supervisor' : structured ? 'Data' : 'Text'}
              </span>
            ),
          },
        ]}
        verbs={(agent) => ({
          ...(agent.status === 'archived'
            ? {}
            : { curl: curl({ origin, tenantId, ...agentCurl(agent, { message: 'Hello' }) }) }),
          ...(mayWrite ? { duplicate: () => verbs.duplicate(agent) } : {}),
          ...(may('agent:publish')
            ? agent.status === 'archived'
              ? { restore: () => verbs.restore(agent) }
              : { archive: () => verbs.archive(agent) }
            : {}),
        })}
        empty={{
          title: 'No agents yet',
          text: 'An agent reads a message, uses the tools you give it, and answers with data in the shape you define. Workflow steps and other systems call it.',
        }}
      />
      <NewAgentDialog
        opened={creating || url.get('new') !== ''}
        onClose={() => {
          setCreating(false)
          if (url.get('new')) url.set({ new: null })
        }}
      />
    </>
  )
}

function Model({ provider, modelId }: { provider: string; modelId: string }) {
  if (provider === 'scripted') return <>Scripted, offline</>
  return <span className="mono">{modelId}</span>
}
