'use client'
import { Button, Radio, SegmentedControl, Skeleton, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { type FormEvent, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { inPlace, loadPart } from '@/app/_ui/part'
import { type Created, createAndPublish } from '../_new/create-and-publish'
import { useTenant } from '../tenant-context'
import type { DescribeFormProps } from './describe-form'
import { ImportField } from './import-field'
import styles from './new-workflow-dialog.module.css'
import { type Imported, readImport } from './read-import'
import { useWorkflowsChanged } from './use-workflows-changed'

const BLANK = 'blank'

const DescribeForm = dynamic<DescribeFormProps>(
  () => loadPart(() => import('./describe-form').then((module) => module.DescribeForm)),
  { ssr: false, loading: inPlace(<Skeleton height={260} />) },
)

/** Creates a workflow (blank, from a sample, a description or JSON) and opens the editor. */
export function NewWorkflowDialog(props: {
  begin: 'blank' | 'import'
  onClose: () => void
  /** Gets the workflow instead. It is published if its author knows what is in it: not if it is blank or described. */
  onCreated?: (workflow: Created) => void
}) {
  const { begin, onClose, onCreated } = props
  const [way, setWay] = useState<string>(begin)
  const [name, setName] = useState('')
  const [sample, setSample] = useState(BLANK)
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const trpc = useTRPC()
  const samples = useQuery({ ...trpc.workflows.samples.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  const create = useCreate(onCreated)
  const { error } = create
  const busy = create.isPending || create.isSuccess

  function submit(event: FormEvent) {
    event.preventDefault()
    // In the inspector, the editor is around the dialog in React's tree.
    event.stopPropagation()
    create.reset()
    if (way === 'import') return sendImport(readImport(text))
    setProblem(null)
    create.mutate(sample === BLANK ? { body: { name }, publishes: false } : { sampleId: sample, name })
  }
  function sendImport(read: Imported) {
    setProblem('problem' in read ? read.problem : null)
    if ('body' in read) create.mutate({ body: name.trim() ? { ...read.body, name } : read.body, publishes: true })
  }
  const opens = onCreated ? ' workflow' : ' and open'
  return (
    <Dialog onClose={onClose} title="New workflow" size="lg">
      <Stack>
        <SegmentedControl
          aria-label="How to begin"
          classNames={{ label: styles.way ?? '' }}
          data={[
            { value: 'blank', label: 'Blank or sample' },
            { value: 'describe', label: 'Describe it' },
            { value: 'import', label: 'Import JSON' },
          ]}
          value={way}
          onChange={(next) => {
            setWay(next)
            setProblem(null)
            create.reset()
          }}
        />
        {way === 'describe' ? (
          <>
            {error && <ErrorState error={error} title="The workflow was not created" />}
            <DescribeForm
              draft={null}
              action={`Create${opens}`}
              onOffered={(definition) => create.mutate({ body: definition, publishes: false })}
              busy={busy}
              focus={false}
              onClose={onClose}
            />
          </>
        ) : (
          <form onSubmit={submit} noValidate>
            <Stack>
              <TextInput
                label="Name"
                description={way === 'import' ? 'Leave empty to keep the name in the JSON' : undefined}
                placeholder="Order approval"
                withAsterisk={way !== 'import'}
                maxLength={200}
                autoComplete="off"
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
                data-autofocus
              />
              {way === 'import' ? (
                <ImportField text={text} onChange={setText} problem={problem} />
              ) : (
                <Radio.Group label="Start with" value={sample} onChange={setSample}>
                  <Stack gap="xs" mt="xs">
                    <Radio value={BLANK} label="An empty canvas" />
                    {(samples.data ?? []).map(({ id, name, description }) => (
                      <Radio key={id} value={id} label={`Sample: ${name}`} description={description} />
                    ))}
                  </Stack>
                </Radio.Group>
              )}
              {error && <ErrorState error={error} title="The workflow was not created" />}
              <DialogButtons>
                <Button variant="default" onClick={onClose}>
                  Cancel
                </Button>
                <Button type="submit" loading={busy} disabled={way === 'import' ? !text.trim() : !name.trim()}>
                  {way === 'import' ? 'Import' : 'Create'}
                  {opens}
                </Button>
              </DialogButtons>
            </Stack>
          </form>
        )}
      </Stack>
    </Dialog>
  )
}

type Beginning = { body: object; publishes: boolean } | { sampleId: string; name: string }

/** @param use gets the workflow; without it, its editor opens */
function useCreate(use: ((workflow: Created) => void) | undefined) {
  const { workflows } = useTRPCClient()
  const changed = useWorkflowsChanged()
  const router = useRouter()
  const { path, may } = useTenant()
  const create = useMutation({
    mutationFn: (begin: Beginning) => {
      // A workflow without a step cannot be published, and nobody has seen a described one yet.
      const publishes = use && may('workflow:publish') && !('body' in begin && !begin.publishes)
      return createAndPublish<Created>(
        () => ('body' in begin ? workflows.create.mutate(begin.body) : workflows.createFromSample.mutate(begin)),
        publishes ? ({ id }) => workflows.publish.mutate({ id }) : null,
      )
    },
    onSuccess: async (created, begin) => {
      if (!use) return
      await changed()
      if ('body' in begin && !begin.publishes)
        notifyDone(`“${created.name}” is a draft. Open it and publish it before a run uses it.`)
    },
  })
  // A blank one begins with the fields of START.
  const open = ({ id }: Created, begin: Beginning) =>
    router.push(path(`/workflows/${id}${'body' in begin && !('steps' in begin.body) ? '?step=%23start' : ''}`))
  // Not called if the dialog was cancelled meanwhile.
  return { ...create, mutate: (begin: Beginning) => create.mutate(begin, { onSuccess: use ?? open }) }
}
