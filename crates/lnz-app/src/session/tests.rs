use super::*;
use ndarray::Array2;
use std::cell::RefCell;

fn examples() -> Examples {
    let rows = Array2::from_shape_fn((32, 8), |(n, i)| f64::from(n >> (i / 2) & 1 == 1));
    Examples::from_rows(rows.view()).unwrap()
}

fn session(epochs: usize) -> Session {
    Session {
        training: Training { hidden: 3, epochs, batch: 8, ..Training::default() },
        track: Epochs::default(),
        track_effort: 1.0,
        folder: None,
        save_at: Epochs::default(),
        resume: false,
    }
}

fn run(session: &Session) -> Trained {
    session.run(&examples(), None, &|_| (), &()).unwrap()
}

/// The history without its times.
fn settled(trained: &Trained) -> Vec<Value> {
    let mut rows: Vec<Value> = trained.history.rows().iter().map(Row::to_json).collect();
    for row in &mut rows {
        for field in ["seconds", "track_seconds"] {
            assert!(row[field].take().is_number(), "{field}");
        }
    }
    rows
}

#[test]
fn a_folder_changes_nothing_but_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let in_memory = Session { track: "0,2,4".parse().unwrap(), ..session(4) };
    let kept = Session {
        folder: Some(folder.path().join("run")),
        save_at: "1".parse().unwrap(),
        ..in_memory.clone()
    };
    let told = RefCell::new(Vec::new());
    let tell = |row: &Row| told.borrow_mut().push(row.epoch);
    let here = in_memory.run(&examples(), Some(&examples()), &tell, &()).unwrap();
    let there = kept.run(&examples(), Some(&examples()), &tell, &()).unwrap();
    assert_eq!(*told.borrow(), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    assert_eq!(settled(&here), settled(&there));
    assert_eq!(here.model.model, there.model.model);
    assert_eq!((here.saved.len(), there.saved.len()), (0, 2));
    let json = there.to_json(None);
    assert_eq!(json["epochs"].as_array().unwrap().len(), 5);
    assert!(json["history"].as_str().unwrap().ends_with("history.csv"));
    assert_eq!(here.to_json(None)["history"], Value::Null);
}

#[test]
fn a_resumed_session_has_the_model_and_the_history_of_one_that_was_not_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run(&Session { track: "all/2".parse().unwrap(), ..session(6) });
    let part = |epochs, resume| Session {
        track: "all/2".parse().unwrap(),
        folder: Some(folder.path().to_owned()),
        resume,
        ..session(epochs)
    };
    run(&part(3, false));
    let resumed = run(&part(6, true));
    assert_eq!(resumed.model.model, whole.model.model);
    assert_eq!(settled(&resumed), settled(&whole));
    // There is nothing left to do, and it is not done again.
    assert_eq!(run(&part(6, true)).saved, Vec::<PathBuf>::new());
}

#[test]
fn what_does_not_go_together_is_told_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let out = Some(folder.path().to_owned());
    let refused =
        |session: Session, validation: bool| session.check(validation).unwrap_err().to_string();
    let epochs = |text: &str| text.parse::<Epochs>().unwrap();
    let late = refused(Session { track: epochs("7"), ..session(5) }, false);
    assert_eq!(late, "track names epoch 7, but epochs is 5; raise it or name earlier epochs");
    assert!(refused(session(5), true).starts_with("validation needs track"));
    for effort in [0.0, f64::NAN, 1e7] {
        let text = refused(Session { track_effort: effort, ..session(5) }, false);
        assert!(text.starts_with(&format!("track_effort is {effort}")), "{text}");
    }
    assert!(refused(Session { resume: true, ..session(5) }, false).starts_with("resume needs out"));
    let text = refused(Session { save_at: epochs("1"), ..session(5) }, false);
    assert!(text.starts_with("save_at needs out"), "{text}");
    let text = refused(Session { resume: true, folder: out.clone(), ..session(5) }, false);
    assert!(text.starts_with("resume found no state.safetensors"), "{text}");
    run(&Session { folder: out.clone(), ..session(1) });
    let text = refused(Session { folder: out, ..session(5) }, false);
    assert!(text.contains("add resume=True"), "{text}");
}

#[test]
fn validation_data_of_another_width_is_refused() {
    let narrow = Examples::from_rows(Array2::zeros((1, 3)).view()).unwrap();
    let session = Session { track: "1".parse().unwrap(), ..session(1) };
    let refused = session.run(&examples(), Some(&narrow), &|_| (), &()).unwrap_err().to_string();
    assert_eq!(refused, "validation has 3 columns, but the model has 8 visible units");
}
