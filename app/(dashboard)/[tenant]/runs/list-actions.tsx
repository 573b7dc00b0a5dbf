'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { Ban, Download, Ellipsis, HeartPulse, RotateCcw, StepForward } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { saveFile } from '@/app/_ui/save-file'
import type { BrowseRuns } from '@/server/views/runs/browse'
import type { Bulk } from '@/server/views/runs/bulk'
import { useTenant } from '../tenant-context'
import { filterOf } from './run-filter'

const BulkDialog = dynamic(() => loadDialog(() => import('./bulk-dialog').then((module) => module.BulkDialog)), {
  ssr: false,
  loading: WaitingDialog,
})

const HealDialog = dynamic(() => loadDialog(() => import('./heal-dialog').then((module) => module.HealDialog)), {
  ssr: false,
  loading: WaitingDialog,
})

/** The bulk actions for all runs that match the filter. */
export function ListActions({ input, onChanged }: { input: BrowseRuns; onChanged: () => void }) {
  const client = useTRPCClient()
  const { may } = useTenant()
  const [asked, setAsked] = useState<Bulk['verb'] | null>(null)
  const [healing, setHealing] = useState(false)
  const filter = filterOf(input)
  // The causes are those of one workflow.
  const [workflowId, ...others] = filter.workflowIds ?? []
  const heals = workflowId !== undefined && others.length === 0 && filter.states?.includes('failed') === true
  const download = async () => {
    const { csv, more } = await client.runs.exportCsv.query(filter)
    saveFile(`runs-${new Date().toISOString().slice(0, 10)}.csv`, csv, 'text/csv')
    if (more) notifyDone('The file has the newest 5,000 runs. Filter by time for earlier ones.')
  }
  return (
    <>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="Actions for these runs">
            <Ellipsis size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>All runs that match the filters</Menu.Label>
          <Menu.Item
            leftSection={<Download size={16} aria-hidden />}
            onClick={() => {
              download().catch((error: unknown) => notifyError(error, 'The runs were not downloaded'))
            }}
          >
            Download as CSV
          </Menu.Item>
          {may('run:retry') && (
            <Menu.Item leftSection={<StepForward size={16} aria-hidden />} onClick={() => setAsked('retry')}>
              Retry failed runs…
            </Menu.Item>
          )}
          {may('run:retry') && heals && (
            <Menu.Item leftSection={<HeartPulse size={16} aria-hidden />} onClick={() => setHealing(true)}>
              Heal failed runs…
            </Menu.Item>
          )}
          {may('run:retry') && (
            <Menu.Item leftSection={<RotateCcw size={16} aria-hidden />} onClick={() => setAsked('rerun')}>
              Run ended runs again…
            </Menu.Item>
          )}
          {may('run:cancel') && (
            <Menu.Item leftSection={<Ban size={16} aria-hidden />} onClick={() => setAsked('cancel')}>
              Cancel open runs…
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {healing && workflowId !== undefined && (
        <HealDialog
          workflowId={workflowId}
          onClose={() => {
            setHealing(false)
            onChanged()
          }}
        />
      )}
      {asked && (
        <BulkDialog
          verb={asked}
          filter={filter}
          onClose={() => {
            setAsked(null)
            onChanged()
          }}
        />
      )}
    </>
  )
}
