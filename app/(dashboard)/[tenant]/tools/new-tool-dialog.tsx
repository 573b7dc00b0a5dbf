'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { errorAt } from '../_versioned/field-errors'
import { useTenant } from '../tenant-context'
import styles from './new-tool.module.css'
import { TOOL_KINDS } from './tool-kind'

type Kind = (typeof TOOL_KINDS)[number]['kind']

const FIRST_CODE = `// args: what the tool is called with. dataContext and context: extra data from the caller.
return { greeting: \`Hello, \${args.name}!\` }
`
const FIRST_INPUT = {
  type: 'object',
  properties: { name: { type: 'string', description: 'Whom to greet' } },
  required: ['name'],
  additionalProperties: false,
}

/** Asks for name and kind and, if the kind calls a server, its URL. The tool's page has the rest. */
export function NewToolDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="New tool" size="lg">
      <NewToolForm onClose={onClose} />
    </Dialog>
  )
}

function NewToolForm({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const router = useRouter()
  const { path } = useTenant()
  const [kind, setKind] = useState<Kind>('script')
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [toolName, setToolName] = useState('')
  const create = useMutation(
    trpc.tools.create.mutationOptions({
      onSuccess: (tool) => {
        router.push(path(`/tools/${tool.id}`))
        return queries.invalidateQueries({ queryKey: trpc.tools.pathKey() })
      },
    }),
  )
  const problem = (at: string) => errorAt(create.error, at)
  const placed = ['name', 'config.url', 'config.toolName'].some((at) => problem(at))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (kind === 'script') create.mutate({ name, kind, config: { code: FIRST_CODE }, inputSchema: FIRST_INPUT })
        else create.mutate({ name, kind, config: kind === 'http' ? { url } : { url, toolName } })
      }}
    >
      <Stack>
        <fieldset className={styles.kinds}>
          <legend>Kind</legend>
          {TOOL_KINDS.map(({ kind: value, label, icon: Icon, text }) => (
            <label key={value} className={styles.kind}>
              <input type="radio" name="kind" value={value} checked={kind === value} onChange={() => setKind(value)} />
              <span className={styles.head}>
                <Icon size={18} aria-hidden /> {label}
              </span>
              <span className={styles.text}>{text}</span>
            </label>
          ))}
        </fieldset>
        <TextInput
          label="Name"
          required
          data-autofocus
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={problem('name')}
        />
        {kind !== 'script' && (
          <TextInput
            label={kind === 'http' ? 'URL' : 'URL of the MCP server'}
            description={
              kind === 'http'
                ? 'May use values, such as https://api.example.com/orders/${args.id}'
                : 'Its streamable HTTP endpoint'
            }
            required
            type="text"
            inputMode="url"
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={problem('config.url')}
          />
        )}
        {kind === 'mcp' && (
          <TextInput
            label="Tool on the server"
            description="As the server names it. You can pick from its list later."
            required
            value={toolName}
            onChange={(event) => setToolName(event.currentTarget.value)}
            error={problem('config.toolName')}
          />
        )}
        {create.error && !placed && <ErrorState error={create.error} />}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!name.trim()}>
            Create tool
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}
