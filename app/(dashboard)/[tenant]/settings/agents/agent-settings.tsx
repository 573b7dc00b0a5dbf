'use client'
import { Button, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import type { RouterOutput } from '@/app/_trpc/types'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import type { AgentLimits } from '@/server/definition/agent'
import { LimitFields } from '../../agents/[agentId]/limit-fields'
import styles from '../workspace/workspace.module.css'

type Settings = RouterOutput['settings']['agentLimits']

/** What all agents of the workspace together may use. */
export function AgentSettings() {
  const trpc = useTRPC()
  const settings = useQuery(trpc.settings.agentLimits.queryOptions())
  return (
    <>
      <PageHeader title="Agents" />
      <PageBody narrow>
        {settings.error && <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />}
        {settings.isPending && <Skeleton height={240} radius="md" />}
        {settings.data && <LimitsForm {...settings.data} />}
      </PageBody>
    </>
  )
}

function LimitsForm({ limits: saved, today }: Settings) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [limits, setLimits] = useState<AgentLimits>(saved)
  const save = useMutation(
    trpc.settings.setAgentLimits.mutationOptions({
      onSuccess: async () => {
        notifyDone('The limits are saved.')
        await queries.invalidateQueries(trpc.settings.pathFilter())
      },
    }),
  )
  const dollars = today.cost.toLocaleString('en', { maximumFractionDigits: 4 })
  return (
    <form
      className={styles.parts}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ limits })
      }}
    >
      <p className={styles.quiet}>
        Agents stop at the first call of a model after a limit is reached. Each agent may have limits of its own.
      </p>
      <dl className={styles.facts}>
        <div>
          <dt>Used today (UTC)</dt>
          <dd>
            {today.tokens.toLocaleString('en')} tokens, US$ {dollars}
          </dd>
        </div>
      </dl>
      <LimitFields
        limits={limits}
        onChange={(next) => {
          setLimits(next)
          save.reset()
        }}
        whose="all agents"
        error={save.error}
        readOnly={false}
      />
      {save.error && <ErrorState error={save.error} title="The limits were not saved" />}
      <div>
        <Button type="submit" variant="default" loading={save.isPending}>
          Save limits
        </Button>
      </div>
    </form>
  )
}
