'use client'
import { Button, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { errorAt } from '../_versioned/field-errors'
import { useTenant } from '../tenant-context'

const FIRST_SCHEMA = {
  type: 'object',
  properties: { summary: { type: 'string', description: 'The message in one sentence' } },
  required: ['summary'],
  additionalProperties: false,
}

/** Asks only for the required properties. The agent's page has the rest. */
export function NewAgentDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="New agent">
      <NewAgentForm onClose={onClose} />
    </Dialog>
  )
}

function NewAgentForm({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const router = useRouter()
  const { path } = useTenant()
  const [name, setName] = useState('')
  const [instructions, setInstructions] = useState('')
  const [supervisor, setSupervisor] = useState(false)
  const create = useMutation(
    trpc.agents.create.mutationOptions({
      onSuccess: (agent) => {
        router.push(path(`/agents/${agent.id}`))
        return queries.invalidateQueries({ queryKey: trpc.agents.pathKey() })
      },
    }),
  )
  const nameProblem = errorAt(create.error, 'name')
  const instructionsProblem = errorAt(create.error, 'instructions')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({ name, instructions, supervisor, outputSchema: supervisor ? null : FIRST_SCHEMA })
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
        <Switch
          label="Supervisor"
          description="Talks with people and hands requests to other agents"
          checked={supervisor}
          onChange={(event) => setSupervisor(event.currentTarget.checked)}
        />
        {create.error && !nameProblem && !instructionsProblem && <ErrorState error={create.error} />}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!name.trim()}>
            Create agent
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}
