import { defineConfig } from 'vitest/config';

// Others may keep the machine busy, which says nothing of a test.
const testTimeout = 60_000;

export default defineConfig({ test: { environment: 'jsdom', include: ['tests/unit/**/*.test.ts'], testTimeout, hookTimeout: testTimeout } });
