'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { CodeEditor } from '@/app/_ui/code-editor'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { type Created, createAndPublish } from '../_new/create-and-publish'
import { errorAt } from '../_versioned/field-errors'
import { useTenant } from '../tenant-context'
import { NewRequest } from './new-request'
import { FIRST_CODE, type NewTool } from './new-tool'
import styles from './new-tool.module.css'
import { bodyOf } from './new-tool-body'
import { TOOL_KINDS } from './tool-kind'

interface Props {
  onClose: () => void
  /** For a step: the tool is published, and the page stays. Without it, the tool's page opens and has the rest. */
  onCreated?: (tool: Created) => void
}

/** Asks for name and kind, and for what a tool of the kind cannot do without. */
export function NewToolDialog(props: Props) {
  return (
    <Dialog onClose={props.onClose} title="New tool" size="lg">
      <NewToolForm {...props} />
    </Dialog>
  )
}

function NewToolForm({ onClose, onCreated }: Props) {
  const [tool, setTool] = useState<NewTool>({ kind: 'script', name: '', url: '', toolName: '', code: FIRST_CODE })
  const set = (part: Partial<NewTool>) => setTool((now) => ({ ...now, ...part }))
  const create = useCreate(tool, onCreated)
  const problem = (at: string) => errorAt(create.error, at)
  const placed = ['name', 'config.url', 'config.toolName', 'config.code'].some((at) => problem(at))
  const { kind } = tool
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        // The editor's own forms are around the dialog in React's tree.
        event.stopPropagation()
        create.mutate({ publishes: onCreated !== undefined })
      }}
    >
      <Stack>
        <KindChoice kind={kind} onChange={(next) => set({ kind: next })} />
        <TextInput
          label="Name"
          required
          data-autofocus
          maxLength={200}
          value={tool.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={problem('name')}
        />
        {kind === 'http' && <NewRequest tool={tool} onChange={set} error={problem('config.url')} />}
        {kind === 'script' && (
          <Script code={tool.code} onChange={(code) => set({ code })} error={problem('config.code')} />
        )}
        {kind === 'mcp' && (
          <>
            <TextInput
              label="URL of the MCP server"
              description="Its streamable HTTP endpoint"
              required
              inputMode="url"
              value={tool.url}
              onChange={(event) => set({ url: event.currentTarget.value })}
              error={problem('config.url')}
            />
            <TextInput
              label="Tool on the server"
              description={`As the server names it.${onCreated ? '' : ' You can pick from its list later.'}`}
              required
              value={tool.toolName}
              onChange={(event) => set({ toolName: event.currentTarget.value })}
              error={problem('config.toolName')}
            />
          </>
        )}
        {create.error && !placed && <ErrorState error={create.error} />}
        <DialogButtons
          beside={
            !onCreated &&
            create.mayPublish && (
              <Button
                variant="default"
                disabled={!tool.name.trim() || create.isPending}
                onClick={() => create.mutate({ publishes: true })}
              >
                Create and publish
              </Button>
            )
          }
        >
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!tool.name.trim()}>
            Create tool
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}

/** @param use gets the tool; without it, the tool's page opens */
function useCreate(tool: NewTool, use: ((tool: Created) => void) | undefined) {
  const trpc = useTRPC()
  const { tools } = useTRPCClient()
  const queries = useQueryClient()
  const router = useRouter()
  const { path, may } = useTenant()
  const mayPublish = may('tool:publish')
  const publish = ({ id }: Created) => tools.publish.mutate({ id, revision: 0 })
  const create = useMutation({
    mutationFn: ({ publishes }: { publishes: boolean }) =>
      createAndPublish<Created>(() => tools.create.mutate(bodyOf(tool)), publishes && mayPublish ? publish : null),
    onSuccess: async () => {
      const loaded = queries.invalidateQueries({ queryKey: trpc.tools.pathKey() })
      // The step's picker names the tool from the new list.
      if (use) await loaded
    },
  })
  const open = ({ id }: Created) => router.push(path(`/tools/${id}`))
  return {
    ...create,
    // Not called if the dialog was cancelled meanwhile.
    mutate: (how: { publishes: boolean }) => create.mutate(how, { onSuccess: use ?? open }),
    mayPublish,
  }
}

function KindChoice({ kind, onChange }: { kind: NewTool['kind']; onChange: (kind: NewTool['kind']) => void }) {
  return (
    <fieldset className={styles.kinds}>
      <legend>Kind</legend>
      {TOOL_KINDS.map(({ kind: value, label, icon: Icon, text }) => (
        <label key={value} className={styles.kind}>
          <input type="radio" name="kind" value={value} checked={kind === value} onChange={() => onChange(value)} />
          <span className={styles.head}>
            <Icon size={18} aria-hidden /> {label}
          </span>
          <span className={styles.text}>{text}</span>
        </label>
      ))}
    </fieldset>
  )
}

function Script(props: { code: string; onChange: (code: string) => void; error: string | null }) {
  return (
    <div>
      <div className={styles.label}>Code</div>
      <CodeEditor label="Code" language="javascript" value={props.code} onChange={props.onChange} minHeight="8rem" />
      {props.error && (
        <p className={styles.error} role="alert">
          {props.error}
        </p>
      )}
    </div>
  )
}
