import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { case1 } from "../fixtures/case1.mjs";

// A clock and a page as small as the player needs them: frames are run by hand.
let frames = [];
let now = 0;
let reduced = false;
globalThis.requestAnimationFrame = (callback) => frames.push(callback);
globalThis.matchMedia = () => ({ get matches() { return reduced; } });
Object.defineProperty(globalThis, "performance", { value: { now: () => now }, configurable: true });

const { Player } = await import("../../../assets/js/stage/player.mjs");
const scene = case1();
let times = [];
let playing = [];
let player = null;

function run(ms, each = 16) {
  for (let passed = 0; passed < ms && frames.length; passed += each) {
    now += each;
    const due = frames;
    frames = [];
    due.forEach((callback) => callback(now));
  }
}

beforeEach(() => {
  [frames, times, playing, reduced] = [[], [], [], false];
  player = new Player((t) => times.push(t), (on) => playing.push(on));
  player.load(scene, 0);
});

test("playing moves through every step to the end, and stops there", () => {
  player.play();
  run(120000);
  assert.equal(player.t, scene.steps.length);
  assert.deepEqual(playing, [true, false]);
  for (let k = 0; k <= scene.steps.length; k++) assert.ok(k === 0 || times.includes(k), `rests at ${k}`);
  assert.ok(times.some((t) => t > 2.4 && t < 2.6), "what travels is seen on its way");
  assert.ok(times.every((t, i) => i === 0 || t > times[i - 1]), "time never goes back");
});

test("the sentence comes before the move, and a rest after it", () => {
  player.play();
  run(200);
  assert.ok(player.t > 0 && player.t < 0.01, "the step has begun, and nothing has moved");
  run(1100);
  assert.equal(player.t, 1);
  run(300);
  assert.equal(player.t, 1, "it rests");
});

test("play at the end begins anew; pause holds where it is", () => {
  player.seek(14);
  player.play();
  run(600);
  assert.ok(player.t > 0 && player.t < 1);
  player.pause();
  const held = player.t;
  run(1000);
  assert.equal(player.t, held);
});

test("a step moves and stops after it; pressed again it hurries", () => {
  player.forward();
  run(5000);
  assert.equal(player.t, 1);
  assert.equal(player.playing, false);
  player.forward();
  run(100);
  assert.ok(player.t > 1 && player.t < 2);
  player.forward();
  run(5000);
  assert.equal(player.t, 3);
});

test("back is at once, and from within a step leads to its begin", () => {
  player.seek(5);
  player.back();
  assert.equal(player.t, 4);
  player.seek(3.4);
  player.back();
  assert.equal(player.t, 3);
});

test("seeking stays within the scene", () => {
  player.seek(-4);
  assert.equal(player.t, 0);
  player.seek(1e6);
  assert.equal(player.t, 14);
});

test("with reduced motion states jump: no time lies between steps", () => {
  reduced = true;
  player.play();
  run(60000);
  assert.equal(player.t, 14);
  player.seek(0);
  player.forward();
  assert.equal(player.t, 1);
  assert.ok(times.every(Number.isInteger));
});

test("with reduced motion a state stays as long as its sentence and the rest after it", () => {
  reduced = true;
  player.play();
  run(800);
  assert.equal(player.t, 0);
  run(80);
  assert.equal(player.t, 1);
});

test("speed scales the whole of a step", () => {
  const until = (speed) => {
    player.load(scene, 0);
    player.speed = speed;
    const start = now;
    player.play();
    while (player.t < 3) run(16);
    player.pause();
    frames = [];
    return now - start;
  };
  const [slow, fast] = [until(0.5), until(2)];
  assert.ok(slow / fast > 3.3 && slow / fast < 4.5, `${slow} / ${fast}`);
});

test("an empty scene does nothing", () => {
  player.load({ ...scene, steps: [] }, 0);
  player.play();
  player.forward();
  assert.equal(player.t, 0);
  assert.deepEqual(playing, []);
});

test("a long way to where a story stops takes no longer than six steps", () => {
  const steps = Array.from({ length: 60 }, () => ({ ...scene.steps[0] }));
  player.load({ ...scene, steps }, 0);
  player.play(60);
  run(13000);
  assert.equal(player.t, 60);
  assert.ok(times.filter(Number.isInteger).length === 60, "and no step is left out");
  player.load(scene, 0);
  player.play(2);
  run(1000);
  assert.ok(player.t < 1, "a short one is as slow as any");
});
