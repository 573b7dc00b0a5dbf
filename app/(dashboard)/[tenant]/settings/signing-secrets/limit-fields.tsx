'use client'
import { Checkbox, MultiSelect, Radio, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { choicesOf, otherChoice } from '../../_versioned/choices'
import type { Limits } from './limits'

/** Asks which workflows, agents and runs a secret's tokens may access. */
export function LimitFields({ limits, onChange }: { limits: Limits; onChange: (limits: Limits) => void }) {
  const trpc = useTRPC()
  const chosen = limits.workflowIds !== null || limits.agentIds !== null
  const workflows = useQuery({ ...trpc.runs.workflows.queryOptions(), enabled: chosen })
  const agents = useQuery({ ...trpc.agents.list.queryOptions({}), enabled: chosen })
  return (
    <Stack>
      <Radio.Group
        label="Workflows and agents"
        value={chosen ? 'chosen' : 'all'}
        onChange={(value) =>
          onChange({
            ...limits,
            workflowIds: value === 'all' ? null : (limits.workflowIds ?? []),
            agentIds: value === 'all' ? null : (limits.agentIds ?? []),
          })
        }
      >
        <Stack gap={6} mt={6}>
          <Radio value="all" label="All of them" />
          <Radio value="chosen" label="Only the ones I choose" />
        </Stack>
      </Radio.Group>
      {chosen && (
        <>
          <Choice
            label="Workflows"
            description="Tokens can start these and follow their runs"
            ids={limits.workflowIds}
            known={workflows.data}
            onChange={(workflowIds) => onChange({ ...limits, workflowIds })}
          />
          <Choice
            label="Agents"
            description="Tokens can talk to these"
            ids={limits.agentIds}
            known={agents.data?.items}
            onChange={(agentIds) => onChange({ ...limits, agentIds })}
          />
        </>
      )}
      <Checkbox
        label="Each user sees only their own runs"
        description="A token sees only the runs that its own user started"
        checked={limits.ownRuns}
        onChange={(event) => onChange({ ...limits, ownRuns: event.currentTarget.checked })}
      />
    </Stack>
  )
}

function Choice(props: {
  label: string
  description: string
  /** Null for all; only the API can set that for a single list. */
  ids: string[] | null
  known: readonly { id: string; name: string }[] | undefined
  onChange: (ids: string[]) => void
}) {
  const { label, description, ids, known, onChange } = props
  const choices = choicesOf(known ?? [])
  const gone = (ids ?? []).filter((id) => !choices.some(({ value }) => value === id))
  return (
    <MultiSelect
      label={label}
      description={description}
      data={[...choices, ...gone.map((id) => otherChoice(id, known !== undefined))]}
      value={ids ?? []}
      onChange={onChange}
      placeholder={ids === null ? 'All' : ids.length === 0 ? 'None' : undefined}
      nothingFoundMessage="Nothing matches"
      searchable
      hidePickedOptions
    />
  )
}
