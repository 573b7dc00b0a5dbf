'use client'
import { Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { errorAt } from '../../_versioned/field-errors'
import styles from '../../_versioned/versioned.module.css'
import { useTenant } from '../../tenant-context'
import type { AgentForm } from './agent-form'
import { FallbackFields } from './fallback-fields'
import { ModelFields } from './model-fields'
import { UsesEditor } from './uses-editor'

export function EditTab(props: {
  agentId: string
  form: AgentForm
  change: (patch: Partial<AgentForm>) => void
  error: unknown
  readOnly: boolean
}) {
  const { agentId, form, change, error, readOnly } = props
  const trpc = useTRPC()
  const { path } = useTenant()
  const own = useQuery(trpc.tools.list.queryOptions({ limit: '1000' }))
  const builtin = useQuery(trpc.tools.list.queryOptions({ kind: 'builtin' }))
  const agents = useQuery(trpc.agents.list.queryOptions({ limit: '1000' }))
  return (
    <div className={styles.form} data-read-only={readOnly || undefined}>
      <section className={styles.group} aria-labelledby="agent-self">
        <h2 id="agent-self">What it does</h2>
        <TextInput
          label="Name"
          required
          maxLength={200}
          value={form.name}
          readOnly={readOnly}
          onChange={(event) => change({ name: event.currentTarget.value })}
          error={errorAt(error, 'name')}
        />
        <Textarea
          label="Description"
          description="Read by people, and by supervisors that hand requests to it"
          autosize
          maxRows={10}
          value={form.description}
          readOnly={readOnly}
          onChange={(event) => change({ description: event.currentTarget.value })}
          error={errorAt(error, 'description')}
        />
        <Textarea
          label="Instructions"
          autosize
          minRows={6}
          maxRows={24}
          value={form.instructions}
          readOnly={readOnly}
          onChange={(event) => change({ instructions: event.currentTarget.value })}
          error={errorAt(error, 'instructions')}
        />
      </section>
      <ModelFields model={form.model} onChange={(model) => change({ model })} error={error} readOnly={readOnly} />
      <FallbackFields form={form} change={change} error={error} readOnly={readOnly} />
      <UsesEditor
        title="Tools"
        text={
          <>
            The agent can call only these. Make others under <Link href={path('/tools')}>Tools</Link>.
          </>
        }
        noun="tool"
        known={[...(own.data?.items ?? []), ...(builtin.data?.items ?? [])]}
        uses={form.tools.map(({ toolId: id, ...use }) => ({ id, ...use }))}
        onChange={(uses) => change({ tools: uses.map(({ id, ...use }) => ({ toolId: id, ...use })) })}
        errors={error}
        readOnly={readOnly}
      />
      <section className={styles.group} aria-labelledby="agent-supervisor">
        <h2 id="agent-supervisor">Supervisor</h2>
        <Switch
          label="Talks with people and hands requests to other agents"
          description="Supervisors are called through chat; they cannot be invoked for data."
          checked={form.supervisor}
          disabled={readOnly}
          onChange={(event) =>
            change(event.currentTarget.checked ? { supervisor: true } : { supervisor: false, handoffs: [] })
          }
        />
      </section>
      {form.supervisor && (
        <UsesEditor
          title="Can hand requests to"
          text="Agents this supervisor can hand a request to."
          noun="agent"
          known={(agents.data?.items ?? []).filter(({ id }) => id !== agentId)}
          uses={form.handoffs.map(({ agentId: id, ...use }) => ({ id, ...use }))}
          onChange={(uses) => change({ handoffs: uses.map(({ id, ...use }) => ({ agentId: id, ...use })) })}
          errors={error}
          readOnly={readOnly}
        />
      )}
    </div>
  )
}
