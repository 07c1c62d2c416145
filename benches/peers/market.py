#!/usr/bin/env python3
"""Discover prices of a linear Fisher market, after cvxgrp's resource allocation by prices.

Only the m class prices are unknown. All users answer a price vector at once with their best class, and the prices follow the
excess demand. This version uses numpy only; the original package needs torch.

    market.py PROBLEM.json     one JSON line: CPU seconds (without reading the file), iterations, tasks by user

Users answer softly, with exp(log value / temperature), so that demand is a function of the prices. The temperature falls
with the steps. The program stops when the excess is 1e-3 of the supply, or after 300 rounds.
"""

import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np


def read(path):
    with open(path, encoding="utf-8") as file:
        doc = json.load(file)
    names = [server["name"] for server in doc["servers"]]
    rates = np.array([[float(user["gamma"][name]) for name in names] for user in doc["users"]])
    weights = np.array([float(user.get("weight", 1)) for user in doc["users"]])
    return rates, weights


def discover(rates, weights, rounds=300, enough=1e-3):
    """Return the prices, the fraction of each user's money spent on each class, and the rounds; every class has one unit."""
    logs = np.log(rates)
    prices = np.full(rates.shape[1], weights.sum() / rates.shape[1])
    prices *= np.exp(np.median(logs - logs.mean(1)[:, None], axis=0))
    temperature, step = 0.1, 0.5
    last = np.inf
    for done in range(1, rounds + 1):
        value = (logs - np.log(prices)) / temperature
        value -= value.max(1)[:, None]
        parts = np.exp(value)
        parts /= parts.sum(1)[:, None]
        demand = weights @ parts / prices
        excess = np.abs(demand - 1).max()
        if excess < enough and temperature <= 2e-3:
            break
        if excess < 10 * temperature:
            temperature = max(temperature * 0.7, 2e-3)
        step = min(step * 1.1, 1.0) if excess < last else max(step * 0.6, 0.02)
        last = excess
        prices *= np.clip(demand, 0.2, 5.0) ** (step * min(1.0, 10 * temperature))
    return prices, parts, done


def main():
    rates, weights = read(sys.argv[1])
    start = time.process_time()
    prices, parts, rounds = discover(rates, weights)
    money = weights[:, None] * parts
    # The users of a class get at most its capacity.
    spent = money.sum(0)
    tasks = (money / np.maximum(spent, 1e-300) * rates).sum(1)
    cpu = time.process_time() - start
    print(json.dumps({"cpu": cpu, "rounds": rounds, "tasks": tasks.tolist()}))


if __name__ == "__main__":
    main()
