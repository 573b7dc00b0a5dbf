'use client'
import { Button, Menu } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { ChevronDown, Copy, Hash, Link2, SquareTerminal } from 'lucide-react'
import { notifyDone } from '@/app/_ui/notify'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'
import { cancelCurl, resumeCurl, startCurl, statusCurl } from '../curl'
import styles from './run.module.css'

/** Copies links, ids and the run's API calls as commands. */
export function CopyMenu({ run }: { run: RunOverview }) {
  const { id } = useTenant()
  const clipboard = useClipboard()
  const copy = (what: string, make: () => string) => () => {
    clipboard.copy(make())
    notifyDone(`${what} copied`)
  }
  const place = () => ({ origin: window.location.origin, tenantId: id })
  const { runId, workflowId } = run
  const pause = run.pauses[0]
  const terminal = <SquareTerminal size={16} aria-hidden />
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button
          variant="default"
          className={styles.copy ?? ''}
          leftSection={<Copy size={15} aria-hidden />}
          rightSection={<ChevronDown size={16} aria-hidden />}
        >
          <span className={styles.copyText}>Copy</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Link2 size={16} aria-hidden />} onClick={copy('Link', () => window.location.href)}>
          Link to this view
        </Menu.Item>
        <Menu.Item leftSection={<Hash size={16} aria-hidden />} onClick={copy('Run id', () => runId)}>
          Run id
        </Menu.Item>
        <Menu.Label>For developers, as a curl command</Menu.Label>
        {'value' in run.input && (
          <Menu.Item
            leftSection={terminal}
            onClick={copy('Command', () => startCurl({ ...place(), workflowId, input: inputOf(run) }))}
          >
            Start with this input
          </Menu.Item>
        )}
        <Menu.Item leftSection={terminal} onClick={copy('Command', () => statusCurl({ ...place(), runId }))}>
          Status
        </Menu.Item>
        {pause && (
          <Menu.Item
            leftSection={terminal}
            onClick={copy('Command', () => resumeCurl({ ...place(), runId, body: answerTo(pause) }))}
          >
            Answer the open pause
          </Menu.Item>
        )}
        {!run.endTime && (
          <Menu.Item leftSection={terminal} onClick={copy('Command', () => cancelCurl({ ...place(), runId }))}>
            Cancel
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

function inputOf({ input }: RunOverview): JsonValue {
  return 'value' in input ? input.value : {}
}

/** An answer template with the right shape and a value of each type. */
function answerTo({ id, signal }: RunOverview['pauses'][number]): JsonValue {
  if (signal.type === 'collect_inputs') return { type: signal.type, pauseId: id, data: samplesOf(signal.fields) }
  const [action] = signal.actions
  return {
    ...{ type: signal.type, pauseId: id, actionId: action?.id ?? '' },
    ...(action?.fields ? { data: samplesOf(action.fields) } : {}),
    ...(signal.remark ? { remark: '' } : {}),
  }
}

function samplesOf(fields: Record<string, { type: string }>): JsonObject {
  const samples: Record<string, JsonValue> = { number: 0, integer: 0, boolean: true, object: {}, array: [] }
  return Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, samples[type] ?? '']))
}
