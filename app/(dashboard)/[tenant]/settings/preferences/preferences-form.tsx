'use client'
import { NativeSelect, SegmentedControl, Stack, Switch, Text, useMantineColorScheme } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { useState } from 'react'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { setSingleKeys, singleKeysOn } from '@/app/_ui/single-keys'
import { useTimeZone } from '@/app/_ui/time-text'
import { MailSwitch } from './mail-switch'

/** The user's preferences: stored in this browser, except for the mails. */
export function PreferencesForm() {
  // The server does not know what this browser stores.
  const mounted = useMounted()
  return (
    <>
      <PageHeader title="Preferences" />
      <PageBody narrow>
        <Stack gap="xl" maw="34rem">
          <Text size="sm" c="dimmed">
            Saved in this browser only.
          </Text>
          {mounted && <Fields />}
          <MailSwitch />
        </Stack>
      </PageBody>
    </>
  )
}

function Fields() {
  const [zone, setZone] = useTimeZone()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [keys, setKeys] = useState(singleKeysOn)
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const zones = Intl.supportedValuesOf('timeZone')
  return (
    <>
      <NativeSelect
        label="Time zone"
        description="All times are shown in this zone"
        value={zone}
        onChange={(event) => setZone(event.currentTarget.value)}
        data={[
          { value: 'local', label: `This browser’s (${own})` },
          { value: 'UTC', label: 'UTC' },
          { group: 'Others', items: zones.filter((name) => name !== 'UTC') },
        ]}
      />
      <div>
        <Text size="sm" fw={500} mb={6} id="theme-label">
          Theme
        </Text>
        <SegmentedControl
          aria-labelledby="theme-label"
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as 'light' | 'dark' | 'auto')}
          data={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
            { value: 'auto', label: 'System' },
          ]}
        />
      </div>
      <div className="with-keyboard">
        <Switch
          label="Single-letter shortcuts"
          description="J, K, C, / and others. Shortcuts with Ctrl or Command always work. Press ? to see them all."
          checked={keys}
          onChange={(event) => {
            setKeys(event.currentTarget.checked)
            setSingleKeys(event.currentTarget.checked)
          }}
        />
      </div>
    </>
  )
}
