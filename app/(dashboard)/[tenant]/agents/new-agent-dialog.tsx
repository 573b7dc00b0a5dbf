'use client'
import { Button, Skeleton, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { inPlace, loadPart } from '@/app/_ui/part'
import { type Created, createAndPublish } from '../_new/create-and-publish'
import { errorAt } from '../_versioned/field-errors'
import { useTenant } from '../tenant-context'
import type { AgentForm } from './[agentId]/agent-form'

type Parts = Pick<AgentForm, 'model' | 'outputSchema'>

const SCRIPTED: Parts['model'] = { provider: 'scripted', modelId: 'scripted', settings: {}, prices: 'list' }
const FIRST_SCHEMA = {
  type: 'object',
  properties: { summary: { type: 'string', description: 'The message in one sentence' } },
  required: ['summary'],
  additionalProperties: false,
}

interface Props {
  onClose: () => void
  /** For a step: the agent is published, and the page stays. Without it, the agent's page opens and has the rest. */
  onCreated?: (agent: Created) => void
}

// A step needs a model and an answer at once; elsewhere, the agent's page has them.
const AgentParts = dynamic(() => loadPart(() => import('./agent-parts').then((module) => module.AgentParts)), {
  ssr: false,
  loading: inPlace(<Skeleton height={220} radius="md" />),
})

/** Asks only for the required properties. */
export function NewAgentDialog({ opened = true, ...props }: Props & { opened?: boolean }) {
  return (
    <Dialog opened={opened} onClose={props.onClose} title="New agent" size={props.onCreated ? 'lg' : 'md'}>
      <NewAgentForm {...props} />
    </Dialog>
  )
}

function NewAgentForm({ onClose, onCreated }: Props) {
  const [name, setName] = useState('')
  const [instructions, setInstructions] = useState('')
  const [supervisor, setSupervisor] = useState(false)
  const [parts, setParts] = useState<Parts>({ model: SCRIPTED, outputSchema: FIRST_SCHEMA })
  const [problem, setProblem] = useState<string | null>(null)
  const create = useCreate(onCreated)
  const nameProblem = errorAt(create.error, 'name')
  const instructionsProblem = errorAt(create.error, 'instructions')
  const placed = nameProblem ?? instructionsProblem ?? errorAt(create.error, 'model')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        // The editor's own forms are around the dialog in React's tree.
        event.stopPropagation()
        create.mutate({ name, instructions, supervisor, ...parts, ...(supervisor ? { outputSchema: null } : {}) })
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          required
          data-autofocus
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={nameProblem}
        />
        <Textarea
          label="Instructions"
          description="What the agent should do, in your own words. You can change this later."
          autosize
          minRows={3}
          maxRows={10}
          value={instructions}
          onChange={(event) => setInstructions(event.currentTarget.value)}
          error={instructionsProblem}
        />
        {onCreated ? (
          <AgentParts parts={parts} onChange={setParts} onProblem={setProblem} error={create.error} />
        ) : (
          <Switch
            label="Supervisor"
            description="Talks with people and hands requests to other agents"
            checked={supervisor}
            onChange={(event) => setSupervisor(event.currentTarget.checked)}
          />
        )}
        {create.error && placed === null && <ErrorState error={create.error} />}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!name.trim() || problem !== null}>
            Create agent
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}

type Body = Parts & Pick<AgentForm, 'name' | 'instructions' | 'supervisor'>

/** @param use gets the published agent; without it, the agent's page opens */
function useCreate(use: ((agent: Created) => void) | undefined) {
  const trpc = useTRPC()
  const { agents } = useTRPCClient()
  const queries = useQueryClient()
  const router = useRouter()
  const { path, may } = useTenant()
  const publish = use && may('agent:publish') ? ({ id }: Created) => agents.publish.mutate({ id, revision: 0 }) : null
  const create = useMutation({
    mutationFn: (body: Body) => createAndPublish<Created>(() => agents.create.mutate(body), publish),
    onSuccess: async () => {
      const loaded = queries.invalidateQueries({ queryKey: trpc.agents.pathKey() })
      // The step's picker names the agent from the new list.
      if (use) await loaded
    },
  })
  const open = ({ id }: Created) => router.push(path(`/agents/${id}`))
  // Not called if the dialog was cancelled meanwhile.
  return { ...create, mutate: (body: Body) => create.mutate(body, { onSuccess: use ?? open }) }
}
