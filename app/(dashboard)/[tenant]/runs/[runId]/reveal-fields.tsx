'use client'
import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { EyeOff } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { FieldsView } from '@/app/_ui/fields-view'
import { useTenant } from '../../tenant-context'
import styles from './answers.module.css'

type Part = 'input' | 'data' | 'result'

/** A value's sensitive fields. Members with that right may reveal each of them. */
export function RevealFields({
  runId,
  of,
  names,
  labels,
}: {
  runId: string
  of: Part
  names: readonly string[]
  /** Display names of the fields. */
  labels: Readonly<Record<string, string>>
}) {
  return (
    <ul className={styles.hidden}>
      {names.map((name) => (
        <Field key={name} runId={runId} of={of} name={name} label={calledAs(name, labels)} />
      ))}
    </ul>
  )
}

/** The field's label; with the object that it is in, such as a decision's. */
function calledAs(name: string, labels: Readonly<Record<string, string>>): string {
  const [outer = '', inner] = name.split('.')
  return inner === undefined ? (labels[name] ?? name) : `${labels[inner] ?? inner} of ${outer}`
}

function Field({ runId, of, name, label }: { runId: string; of: Part; name: string; label: string }) {
  const trpc = useTRPC()
  const { may } = useTenant()
  const [asking, setAsking] = useState(false)
  const reveal = useMutation(trpc.runs.reveal.mutationOptions({ onSuccess: () => setAsking(false) }))
  return (
    <li>
      <EyeOff size={14} aria-hidden />
      {reveal.data ? (
        <>
          <FieldsView value={{ [label]: reveal.data.value }} label={`${label}, revealed`} />
          <Button variant="subtle" size="compact-xs" onClick={() => reveal.reset()}>
            Hide {label}
          </Button>
        </>
      ) : (
        <>
          <span>{label} is sensitive.</span>
          {may('run:reveal') && (
            <Button variant="subtle" size="compact-xs" onClick={() => setAsking(true)}>
              Reveal {label}
            </Button>
          )}
        </>
      )}
      <Dialog opened={asking} onClose={() => setAsking(false)} title={`Reveal “${label}”?`}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            reveal.mutate({ runId, of, field: name })
          }}
        >
          <Stack>
            <Text size="sm">
              You will see the value until you leave this page. The audit log will say that you did.
            </Text>
            {reveal.error && <ErrorState error={reveal.error} title="The value was not revealed" />}
            <DialogButtons>
              <Button variant="default" onClick={() => setAsking(false)}>
                Cancel
              </Button>
              <Button type="submit" loading={reveal.isPending}>
                Reveal
              </Button>
            </DialogButtons>
          </Stack>
        </form>
      </Dialog>
    </li>
  )
}
