'use client'
import { useMantineColorScheme } from '@mantine/core'
import { BookOpen, Bot, Building2, Keyboard, Monitor, Moon, Play, Plus, Sun, Workflow, Wrench } from 'lucide-react'
import { useRouter } from 'next/navigation'
import type { Found } from '@/server/views/home/find'
import type { Command } from './palette-match'
import { SETTINGS } from './settings/settings-navigation'
import { useTenant } from './tenant-context'
import { usePlaces } from './use-places'

/** The palette's built-in commands, in addition to the server's search results. */
export function useCommands(onKeys: () => void): Command[] {
  const router = useRouter()
  const { path, may, slug, workspaces } = useTenant()
  const places = usePlaces()
  const { setColorScheme } = useMantineColorScheme()
  const go = (href: string) => () => router.push(href)
  const themes = [
    ['light', 'Light theme', Sun],
    ['dark', 'Dark theme', Moon],
    ['auto', 'Use system theme', Monitor],
  ] as const
  const creations = [
    ['New workflow', '/workflows?new=1', 'workflow:write'],
    ['New agent', '/agents?new=1', 'agent:write'],
    ['New tool', '/tools?new=1', 'tool:write'],
    ['New API key', '/settings/api-keys?new=1', 'key:manage'],
  ] as const
  return [
    ...places.map(({ label, href, icon, key }) => ({
      id: `place ${label}`,
      group: 'Go to',
      label,
      hint: `G ${key.toUpperCase()}`,
      icon,
      run: go(path(href)),
    })),
    ...SETTINGS.filter(({ operation }) => operation === null || may(operation)).map(({ label, href, icon }) => ({
      id: `settings ${label}`,
      group: 'Settings',
      label,
      icon,
      run: go(path(href)),
    })),
    ...creations.flatMap(([label, href, operation]) =>
      may(operation) ? [{ id: label, group: 'Create', label, icon: Plus, run: go(path(href)) }] : [],
    ),
    ...workspaces.flatMap((workspace) =>
      workspace.slug === slug
        ? []
        : [
            {
              id: `workspace ${workspace.slug}`,
              group: 'Workspaces',
              label: workspace.name,
              icon: Building2,
              run: go(`/${workspace.slug}`),
            },
          ],
    ),
    ...themes.map(([scheme, label, icon]) => ({
      id: label,
      group: 'Other',
      label,
      icon,
      run: () => setColorScheme(scheme),
    })),
    { id: 'keys', group: 'Other', label: 'Keyboard shortcuts', hint: '?', icon: Keyboard, run: onKeys },
    {
      id: 'reference',
      group: 'Other',
      label: 'API reference',
      icon: BookOpen,
      run: go(path('/reference')),
    },
  ]
}

const KINDS = {
  workflow: { group: 'Workflows', at: '/workflows', icon: Workflow },
  run: { group: 'Runs', at: '/runs', icon: Play },
  agent: { group: 'Agents', at: '/agents', icon: Bot },
  tool: { group: 'Tools', at: '/tools', icon: Wrench },
} as const

/** Search results as commands that open them. */
export function useFoundCommands(found: Found[]): Command[] {
  const router = useRouter()
  const { path } = useTenant()
  return found.map(({ kind, id, name, state }) => ({
    id: `${kind} ${id}`,
    group: KINDS[kind].group,
    label: name,
    hint: kind === 'run' ? `${state} · ${id.slice(-6)}` : state,
    icon: KINDS[kind].icon,
    run: () => router.push(path(`${KINDS[kind].at}/${id}`)),
  }))
}
